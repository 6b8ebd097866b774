-- What users may do with views and their functions stays, when a view is made anew; what was taken
-- from the roles of OMD stays taken.

CREATE OR REPLACE FUNCTION omd_facts._kept_grants(
    p_interface_id integer
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $kept_grants$
BEGIN
    RETURN QUERY
    WITH kept AS (
        SELECT v.name AS object, '' AS columns, c.relacl AS acl, c.relowner AS owner
        FROM omd_facts._present_views(p_interface_id) AS v
        INNER JOIN pg_class AS c ON v.id = c.oid AND c.relname NOT LIKE '\_%'
        UNION ALL
        SELECT v.name, format(' (%I)', a.attname), a.attacl, c.relowner
        FROM omd_facts._present_views(p_interface_id) AS v
        INNER JOIN pg_class AS c ON v.id = c.oid AND c.relname NOT LIKE '\_%'
        INNER JOIN pg_attribute AS a ON v.id = a.attrelid AND a.attacl IS NOT NULL
        UNION ALL
        SELECT format('FUNCTION %s', p.oid::regprocedure), '', p.proacl, p.proowner
        FROM omd_facts._present_views(p_interface_id) AS v
        INNER JOIN pg_proc AS p ON v.row_type = p.prorettype AND p.proname NOT LIKE '\_%'
    )

    SELECT s.statement
    FROM (
        SELECT
            1 AS place,
            format('REVOKE ALL ON %s FROM omd_data_reader, omd_data_writer', k.object) AS statement
        FROM kept AS k
        WHERE k.columns = ''
        UNION ALL
        SELECT
            2,
            format(
                'GRANT %s%s ON %s TO %s%s',
                a.privilege_type,
                k.columns,
                k.object,
                CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
                CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
            )
        FROM kept AS k
        CROSS JOIN LATERAL aclexplode(k.acl) AS a
        WHERE a.grantee <> k.owner
    ) AS s
    ORDER BY s.place;
END
$kept_grants$;

COMMENT ON FUNCTION omd_facts._kept_grants IS
'Returns the statements that give the views of the interface p_interface_id the privileges that '
'they have now. Locks: none.';
