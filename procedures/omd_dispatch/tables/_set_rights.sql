-- A table of tasks gets a column with each criterion, so this is done after each of these changes,
-- and at each installation. What has its rights is left alone: a GRANT writes the catalogue, which
-- an exchange of partitions does too. A right that a role of ours has handed on stays.

CREATE OR REPLACE PROCEDURE omd_dispatch._set_rights(
    p_family_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $set_rights$
DECLARE
    c_roles CONSTANT regrole[] :=
        '{omd_guest, omd_runner, omd_admin, omd_reader, omd_data_reader, omd_data_writer}'
        ::regrole[];
    v_made record;
    v_right text;
BEGIN
    FOR v_made IN
        WITH relations AS (
            SELECT t.relation, TRUE AS has_errors
            FROM (
                SELECT omd_dispatch._data_table(p_family_code)::regclass
                UNION ALL
                SELECT o.relation
                FROM omd_dispatch._task_tables(omd_dispatch._data_table(p_family_code)) AS o (relation)
            ) AS t (relation)
            UNION ALL
            SELECT t.relation, FALSE
            FROM (
                SELECT to_regclass('omd_dispatch.' || quote_ident(n.prefix || lower(p_family_code)))
                FROM (
                    VALUES ('task_model_'), ('old_task_data_'), ('old_task_criteria_')
                ) AS n (prefix)
                UNION ALL
                SELECT h.inhrelid::regclass
                FROM pg_inherits AS h
                WHERE h.inhparent IN (
                    to_regclass('omd_dispatch.' || quote_ident('old_task_data_' || lower(p_family_code))),
                    to_regclass(
                        'omd_dispatch.' || quote_ident('old_task_criteria_' || lower(p_family_code))
                    )
                )
            ) AS t (relation)
            WHERE t.relation IS NOT NULL
        ),

        made AS (
            SELECT
                'TABLE ' || r.relation AS object,
                c.relacl AS acl,
                r.relation AS relation,
                CASE
                    WHEN r.has_errors THEN ARRAY(
                        SELECT format('SELECT (%I) TO omd_reader', a.attname)
                        FROM pg_attribute AS a
                        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                            AND a.attname <> 'error'
                        UNION ALL
                        SELECT 'SELECT TO omd_data_reader'
                        ORDER BY 1
                    )
                    ELSE '{SELECT TO omd_reader}'
                END AS wanted
            FROM relations AS r
            INNER JOIN pg_class AS c ON r.relation = c.oid
            UNION ALL
            SELECT
                'FUNCTION ' || p.oid::regprocedure, coalesce(p.proacl, acldefault('f', p.proowner)),
                NULL,
                CASE
                    WHEN p.proname ~ '^_take_' THEN ARRAY[format('%s TO omd_runner', 'EXECUTE')]
                    ELSE '{}'
                END
            FROM pg_proc AS p
            WHERE p.pronamespace = 'omd_dispatch'::regnamespace
                AND p.proname ~ ('^_[a-z]+_(old_)?task_data_' || lower(p_family_code) || '$')
        )

        SELECT m.object, m.wanted
        FROM made AS m
        WHERE m.wanted IS DISTINCT FROM ARRAY(
            SELECT
                concat_ws(
                    ' ', x.privilege_type, '(' || quote_ident(x.column_name) || ')', 'TO',
                    CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE x.grantee::regrole::text END,
                    CASE WHEN x.is_grantable THEN 'WITH GRANT OPTION' END
                )
            FROM (
                SELECT NULL AS column_name, a.grantee, a.privilege_type, a.is_grantable
                FROM aclexplode(m.acl) AS a
                UNION ALL
                SELECT t.attname, a.grantee, a.privilege_type, a.is_grantable
                FROM pg_attribute AS t
                CROSS JOIN LATERAL aclexplode(t.attacl) AS a
                WHERE t.attrelid = m.relation AND NOT t.attisdropped
            ) AS x
            WHERE x.grantee = 0 OR x.grantee = ANY(c_roles::oid[])
            ORDER BY 1
        )
    LOOP
        BEGIN
            EXECUTE format(
                'REVOKE ALL ON %s FROM PUBLIC, %s', v_made.object, array_to_string(c_roles, ', ')
            );
            FOREACH v_right IN ARRAY v_made.wanted LOOP
                EXECUTE format(
                    'GRANT %s', replace(v_right, ' TO ', format(' ON %s TO ', v_made.object))
                );
            END LOOP;
        EXCEPTION
            WHEN dependent_objects_still_exist THEN
                NULL;
        END;
    END LOOP;
END
$set_rights$;

COMMENT ON PROCEDURE omd_dispatch._set_rights IS
'Grants what was made for the family p_family_code: the tables of tasks to omd_data_reader, and to '
'omd_reader all but the errors of tasks, what lies beside them to omd_reader, and the function '
'that takes tasks to omd_runner. Our roles and PUBLIC lose what else they have of it, but what was '
'handed on. Locks: none.';
