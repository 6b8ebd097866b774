-- What our roles and PUBLIC may do with objects of ours is what the release says, and nothing else:
-- CREATE OR REPLACE keeps what a former release has granted. sql/rights/release.sql has the rows;
-- this file compares them with the catalogue, each time, and executes the differences. What any
-- other role has is its administrator's and stays, and so does what a role of ours has handed on:
-- nothing is revoked with CASCADE. With the setting omd_install.only_look nothing is executed. What
-- was found is in the setting omd_install.rights_compared, which outlives the transaction. A new
-- database has what its files grant, unless default privileges have given more; and no routine
-- stays PUBLIC, as PostgreSQL makes it.

SET LOCAL search_path = pg_catalog, pg_temp;

DO $do$
DECLARE
    c_looks CONSTANT boolean := coalesce(current_setting('omd_install.only_look', TRUE), '') = 'yes';
    v_owner CONSTANT regrole := to_regrole('omd_owner');
    v_differences jsonb := '[]';
    v_now jsonb;
    v_statement text;
BEGIN
    PERFORM set_config('omd_install.rights_compared', '[]', FALSE);
    IF NOT c_looks THEN
        PERFORM FROM pg_constraint AS c
        INNER JOIN pg_namespace AS n ON c.connamespace = n.oid
        WHERE n.nspname = 'omd' AND c.conname = 'pk_installed_file'
            AND c.xmin = pg_current_xact_id()::xid
            AND NOT EXISTS (SELECT FROM pg_default_acl AS d WHERE d.defaclrole = v_owner);
        IF FOUND THEN
            FOR v_statement IN
                SELECT format('REVOKE ALL ON ALL ROUTINES IN SCHEMA %I FROM PUBLIC', n.nspname)
                FROM pg_namespace AS n
                WHERE n.nspname ~ '^omd(_|$)' AND n.nspowner = v_owner
            LOOP
                EXECUTE v_statement;
            END LOOP;
            RETURN;
        END IF;
    END IF;
    -- A REVOKE on a table takes the rights on its columns too, so it looks again.
    FOR v_round IN 1..3 LOOP
        WITH roles AS (
            SELECT r.oid, quote_ident(r.rolname) AS name
            FROM pg_roles AS r
            WHERE r.rolname = ANY(
                '{omd_guest, omd_runner, omd_admin, omd_reader, omd_data_reader, omd_data_writer}'
            )
            UNION ALL
            SELECT 0, 'PUBLIC'
        ),

        wanted AS (
            SELECT DISTINCT
                w.parts[1] AS object, w.parts[2] AS column_name, w.parts[3] AS grantee,
                w.parts[4] AS privilege
            FROM string_to_table(current_setting('omd_install.rights'), E'\n') AS l (line)
            CROSS JOIN LATERAL (SELECT string_to_array(l.line, ' | ')) AS w (parts)
            WHERE l.line <> ''
        ),

        objects AS (
            SELECT 'SCHEMA ' || quote_ident(n.nspname) AS object, '' AS column_name,
                coalesce(n.nspacl, acldefault('n', n.nspowner)) AS acl
            FROM pg_namespace AS n
            WHERE n.nspname ~ '^omd(_|$)' AND n.nspowner = v_owner
            UNION ALL
            SELECT
                format(
                    '%s %I.%I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
                    n.nspname, c.relname
                ),
                coalesce(quote_ident(a.attname), ''),
                CASE
                    WHEN a.attname IS NOT NULL THEN a.attacl
                    WHEN c.relkind = 'S' THEN coalesce(c.relacl, acldefault('s', c.relowner))
                    ELSE coalesce(c.relacl, acldefault('r', c.relowner))
                END
            FROM pg_class AS c
            INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
            CROSS JOIN LATERAL (
                SELECT NULL::name, NULL::aclitem[]
                UNION ALL
                SELECT t.attname, t.attacl FROM pg_attribute AS t
                WHERE t.attrelid = c.oid AND t.attacl IS NOT NULL AND NOT t.attisdropped
            ) AS a (attname, attacl)
            WHERE n.nspname ~ '^omd(_|$)' AND c.relowner = v_owner
                AND c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
            UNION ALL
            SELECT 'ROUTINE ' || p.oid::regprocedure, '',
                coalesce(p.proacl, acldefault('f', p.proowner))
            FROM pg_proc AS p
            INNER JOIN pg_namespace AS n ON p.pronamespace = n.oid
            WHERE n.nspname ~ '^omd(_|$)' AND p.proowner = v_owner
            UNION ALL
            SELECT 'TYPE ' || t.oid::regtype, '', coalesce(t.typacl, acldefault('T', t.typowner))
            FROM pg_type AS t
            INNER JOIN pg_namespace AS n ON t.typnamespace = n.oid
            WHERE n.nspname ~ '^omd(_|$)' AND t.typowner = v_owner
                AND (t.typtype IN ('d', 'e', 'r') OR t.typtype = 'c' AND EXISTS (
                    SELECT FROM pg_class AS c WHERE c.oid = t.typrelid AND c.relkind = 'c'
                ))
        ),

        held AS (
            SELECT
                o.object, o.column_name, a.grantor, a.grantee AS grantee_oid, a.is_grantable,
                a.privilege_type AS privilege,
                coalesce(r.name, quote_ident(g.rolname), a.grantee::text) AS grantee,
                r.name IS NOT NULL AS is_ours,
                l.object IS NOT NULL AS is_listed,
                w.object IS NOT NULL AS is_wanted,
                a.grantor <> v_owner OR EXISTS (
                    SELECT FROM objects AS d
                    CROSS JOIN LATERAL aclexplode(d.acl) AS e
                    WHERE a.is_grantable AND d.object = o.object
                        AND o.column_name IN ('', d.column_name)
                        AND e.privilege_type = a.privilege_type AND e.grantor = a.grantee
                ) AS is_handed_on
            FROM objects AS o
            CROSS JOIN LATERAL aclexplode(o.acl) AS a
            LEFT JOIN roles AS r ON a.grantee = r.oid
            LEFT JOIN pg_roles AS g ON a.grantee = g.oid
            LEFT JOIN (SELECT DISTINCT w.object FROM wanted AS w) AS l ON o.object = l.object
            LEFT JOIN wanted AS w
                ON o.object = w.object AND o.column_name = w.column_name AND r.name = w.grantee
                    AND a.privilege_type = w.privilege
            WHERE a.grantee <> v_owner
        ),

        differences AS (
            SELECT
                CASE
                    WHEN NOT h.is_ours OR h.is_handed_on THEN 'leave' ELSE 'revoke'
                END AS action,
                CASE WHEN h.is_wanted AND h.is_ours THEN 'GRANT OPTION FOR ' ELSE '' END AS option,
                h.object, h.column_name, h.grantee, h.privilege, pg_get_userbyid(h.grantor) AS grantor,
                h.is_grantable, h.is_ours
            FROM held AS h
            WHERE NOT h.is_ours
                OR (h.is_listed AND (h.is_grantable OR NOT h.is_wanted))
                OR (h.is_listed AND h.grantor <> v_owner)
            UNION ALL
            SELECT 'grant', '', w.object, w.column_name, w.grantee, w.privilege, 'omd_owner', FALSE, TRUE
            FROM wanted AS w
            WHERE w.grantee IS NOT NULL
                AND w.object IN (SELECT o.object FROM objects AS o)
                AND NOT EXISTS (
                    SELECT FROM held AS h
                    WHERE h.object = w.object AND h.column_name = w.column_name
                        AND h.grantee = w.grantee AND h.privilege = w.privilege
                        AND h.grantor = v_owner
                )
        )

        SELECT coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'action', d.action, 'object', d.object, 'column', d.column_name,
                    'grantee', d.grantee, 'privilege', d.privilege, 'grantor', d.grantor,
                    'is_grantable', d.is_grantable, 'is_ours', d.is_ours,
                    'right', format('%s TO %s', r.text, d.grantee),
                    'statement', CASE d.action
                        WHEN 'grant' THEN format('GRANT %s TO %s', r.text, d.grantee)
                        WHEN 'revoke' THEN format('REVOKE %s FROM %s', r.text, d.grantee)
                    END
                )
                ORDER BY
                    array_position('{revoke, grant, leave}', d.action), d.object COLLATE "C",
                    d.column_name COLLATE "C", d.privilege COLLATE "C", d.grantee COLLATE "C"
            ),
            '[]'
        ) INTO v_now
        FROM differences AS d
        CROSS JOIN LATERAL (
            SELECT
                concat(
                    d.option, d.privilege, ' (' || nullif(d.column_name, '') || ')', ' ON ', d.object
                )
        ) AS r (text);
        IF v_round = 1 THEN
            v_differences := v_now;
        END IF;
        EXIT WHEN c_looks;
        EXIT WHEN NOT v_now @? '$[*].statement ? (@ != null)';
        FOR v_statement IN
            SELECT e.value ->> 'statement' FROM jsonb_array_elements(v_now) AS e
            WHERE e.value ->> 'statement' IS NOT NULL
        LOOP
            EXECUTE v_statement;
        END LOOP;
    END LOOP;
    PERFORM set_config('omd_install.rights_compared', v_differences::text, FALSE);
END
$do$;

-- What a routine has made gets its rights from that routine.
DO $do$
DECLARE
    v_family_code text;
BEGIN
    IF coalesce(current_setting('omd_install.only_look', TRUE), '') <> 'yes' THEN
        FOR v_family_code IN
            SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
        LOOP
            CALL omd_dispatch._set_rights(v_family_code);
        END LOOP;
    END IF;
END
$do$;
