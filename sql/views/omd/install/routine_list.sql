-- Whom a routine is for is decided here and nowhere else. A trigger function is for its schema,
-- unless somebody else may attach it. A retired routine stays for calls that are on their way.

CREATE OR REPLACE VIEW omd_report.routine_list AS
SELECT
    n.nspname || '.' || p.proname AS routine,
    CASE p.prokind WHEN 'p' THEN 'procedure' ELSE 'function' END AS kind,
    a.audience,
    a.audience IN ('PERSON', 'PROGRAM') AS is_public,
    g.roles,
    c.comment,
    p.oid AS routine_oid
FROM pg_proc AS p
INNER JOIN pg_namespace AS n ON p.pronamespace = n.oid
LEFT JOIN pg_description AS d
    ON p.oid = d.objoid AND d.classoid = 'pg_proc'::regclass AND d.objsubid = 0
CROSS JOIN LATERAL omd.comment_parts(d.description) AS c
CROSS JOIN
    LATERAL (
        SELECT
            ARRAY(
                SELECT DISTINCT
                    CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(x.grantee)::text END
                    COLLATE "C" AS role
                FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS x
                WHERE x.grantee <> p.proowner AND x.privilege_type = 'EXECUTE'
                ORDER BY role
            ) AS roles
    ) AS g
CROSS JOIN
    LATERAL (
        SELECT
            CASE
                WHEN
                    p.proname ~ '^_'
                    OR d.description LIKE 'Retired.%'
                    OR (p.prorettype = 'trigger'::regtype AND g.roles = '{}')
                    THEN 'SCHEMA'
                ELSE c.audience
            END AS audience
    ) AS a
WHERE n.nspname ~ '^omd(_|$)' AND pg_get_userbyid(n.nspowner) = 'omd_owner';

COMMENT ON VIEW omd_report.routine_list IS
'Every routine of OMD: whom it is for, and who may call it.';
COMMENT ON COLUMN omd_report.routine_list.routine IS 'Its name, with the schema.';
COMMENT ON COLUMN omd_report.routine_list.kind IS 'procedure or function.';
COMMENT ON COLUMN omd_report.routine_list.audience IS
'PERSON (its COMMENT begins with none of these words), PROGRAM ("For programs:": a job, a worker, '
'a supplier or a receiver, in any language), DRIVER ("For the driver:"), ROOMS ("For rooms:"), or '
'SCHEMA: a step of others, whose name begins with _, or a trigger function.';
COMMENT ON COLUMN omd_report.routine_list.is_public IS
'TRUE for PERSON and PROGRAM: within a major version it stays as it is.';
COMMENT ON COLUMN omd_report.routine_list.roles IS
'The roles to which EXECUTE is granted; PUBLIC where everybody may call it.';
COMMENT ON COLUMN omd_report.routine_list.comment IS
'Its COMMENT without the words that say whom it is for.';
COMMENT ON COLUMN omd_report.routine_list.routine_oid IS 'Its OID in pg_proc.';
