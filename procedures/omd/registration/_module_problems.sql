-- This is the only place of these rules: the view readiness calls it for all Modules,
-- register_module for the one that it has just written. It is PL/pgSQL, which plans the statement
-- once per session; a function in SQL would plan it again for each Module.

CREATE OR REPLACE FUNCTION omd._module_problems(
    p_module_id integer
)
RETURNS TABLE (
    problem_code text,
    severity text,
    problem text,
    command text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 2
SET search_path = pg_catalog, pg_temp
AS $module_problems$
BEGIN
    RETURN QUERY
    WITH target AS MATERIALIZED (
        SELECT
            m.module_id,
            m.module_code,
            m.area_code,
            m.table_type_code,
            m.table_format_code,
            m.platform_code,
            m.table_code,
            m.insert_instance_column,
            omd.quote_table(m.table_code, m.platform_code) AS quoted,
            m.platform_code = 'POSTGRES' AS is_here,
            r.relation,
            m.platform_code <> 'POSTGRES' OR r.relation IS NOT NULL AS is_there
        FROM omd.module AS m
        CROSS JOIN LATERAL omd.target_relation(m.table_code) AS r (relation)
        WHERE m.module_id = p_module_id
    ),

    missing AS MATERIALIZED (
        SELECT
            c.argument,
            c.column_name
        FROM target AS t
        CROSS JOIN LATERAL omd._missing_columns(t.module_id) AS c
        WHERE t.is_there OR c.column_name IS NULL
    ),

    templates AS MATERIALIZED (
        SELECT
            count(*) AS template_count,
            bool_or(strpos(f.statement_template, '{insert_instance_column}') > 0) AS uses_stamp,
            bool_or(f.statement_template ~* '\mDELETE\s+FROM\s+{table}') AS deletes
        FROM omd._fitting_templates(p_module_id) AS f
    )

    SELECT
        'TARGET_MISSING' AS problem_code,
        'ERROR' AS severity,
        format(
            'the target %s does not exist yet: nothing can be rolled back in it', t.quoted
        ) AS problem,
        format(
            'CREATE TABLE %s (…, %I bigint NOT NULL);', t.quoted, t.insert_instance_column
        ) AS command
    FROM target AS t
    WHERE NOT t.is_there
    UNION ALL
    SELECT
        'TEMPLATE_MISSING' AS problem_code,
        'ERROR' AS severity,
        format(
            'no rollback template fits area %s, table type %s, platform %s%s',
            t.area_code,
            coalesce(t.table_type_code, 'none'),
            t.platform_code,
            ', table format ' || t.table_format_code
        ) AS problem,
        format('CALL omd.register_rollback(%L);', t.module_code) AS command
    FROM target AS t
    CROSS JOIN templates AS f
    WHERE f.template_count = 0
    UNION ALL
    SELECT
        CASE c.argument
            WHEN 'p_business_key_columns' THEN 'KEY_MISSING'
            WHEN 'p_insert_instance_column' THEN 'STAMP_COLUMN_MISSING'
            ELSE 'HISTORY_COLUMN_MISSING'
        END AS problem_code,
        'ERROR' AS severity,
        CASE
            WHEN c.column_name IS NULL
                THEN
                    format('its rollback repairs history by %s, and none is registered', c.argument)
            ELSE
                format('its rollback needs the column %I, which %s lacks', c.column_name, t.quoted)
        END AS problem,
        CASE
            WHEN c.argument = 'p_insert_instance_column'
                THEN format('ALTER TABLE %s ADD COLUMN %I bigint;', t.quoted, c.column_name)
            ELSE
                format(
                    'CALL omd.register_module(%L, %s => %s);',
                    t.module_code,
                    c.argument,
                    CASE c.argument
                        WHEN 'p_business_key_columns' THEN 'ARRAY[''…'']'
                        ELSE '''…'''
                    END
                )
        END AS command
    FROM target AS t
    CROSS JOIN missing AS c
    UNION ALL
    -- The rollback works without this column, but a row can't be traced to its run.
    SELECT
        'STAMP_COLUMN_MISSING' AS problem_code,
        'WARNING' AS severity,
        format(
            'the target %s lacks the column %I: a row can''t be traced to its run',
            t.quoted,
            t.insert_instance_column
        ) AS problem,
        format(
            'ALTER TABLE %s ADD COLUMN %I bigint;', t.quoted, t.insert_instance_column
        ) AS command
    FROM target AS t
    WHERE
        t.is_here
        AND t.is_there
        AND omd.target_column_type(t.table_code, t.insert_instance_column) IS NULL
        AND NOT EXISTS (
            SELECT FROM missing AS c
            WHERE c.argument = 'p_insert_instance_column'
        )
    UNION ALL
    SELECT
        'TARGET_TAKES_NO_DELETE' AS problem_code,
        'ERROR' AS severity,
        format('its rollback deletes from %s, which takes no DELETE', t.quoted) AS problem,
        format(
            'CREATE TRIGGER … INSTEAD OF DELETE ON %s FOR EACH ROW EXECUTE FUNCTION …();', t.quoted
        ) AS command
    FROM target AS t
    CROSS JOIN templates AS f
    WHERE t.is_here AND t.is_there AND f.deletes AND NOT omd._takes_delete(t.relation)
    UNION ALL
    SELECT
        'STAMP_COLUMN_NOT_INDEXED' AS problem_code,
        'WARNING' AS severity,
        format(
            'a rollback reads all of %s, some %s rows: no index begins with %I',
            t.quoted,
            c.reltuples::bigint,
            t.insert_instance_column
        ) AS problem,
        format(
            'CREATE INDEX%s ON %s (%I);',
            CASE WHEN c.relkind = 'r' THEN ' CONCURRENTLY' END,
            t.quoted,
            t.insert_instance_column
        ) AS command
    FROM target AS t
    CROSS JOIN templates AS f
    INNER JOIN pg_class AS c ON t.relation = c.oid
    WHERE
        t.is_here
        AND f.uses_stamp
        AND c.relkind IN ('r', 'p')
        AND c.reltuples >= 100000
        AND omd.target_column_type(t.table_code, t.insert_instance_column) IS NOT NULL
        AND NOT omd._column_is_indexed(t.table_code, t.insert_instance_column);
END
$module_problems$;

COMMENT ON FUNCTION omd._module_problems IS
'Returns what the Module p_module_id lacks and what would otherwise show only after its first '
'failure, one row per problem. problem_code is TARGET_MISSING, TEMPLATE_MISSING, KEY_MISSING, '
'HISTORY_COLUMN_MISSING, STAMP_COLUMN_MISSING, TARGET_TAKES_NO_DELETE, or '
'STAMP_COLUMN_NOT_INDEXED (only for a table of 100,000 rows or more). severity is ERROR when it '
'can''t be rolled back, else WARNING. problem says it in words, and command solves it. It reads '
'the catalogue only. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._module_problems TO omd_reader;
