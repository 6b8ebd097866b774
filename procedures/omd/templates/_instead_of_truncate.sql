-- Whether TRUNCATE would take rows of others is known only once the table is locked, when the
-- statements are built already. So this says what takes its place. A template of the Module's own
-- is somebody's decision about this very table and has no alternative.

CREATE OR REPLACE FUNCTION omd._instead_of_truncate(
    p_module_id integer,
    p_instance_array bigint[]
)
RETURNS TABLE (
    table_name text,
    statement text,
    count_statement text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        v.given ->> 'table' AS table_name,
        omd._render(t.statement_template, v.given) AS statement,
        omd._render(t.count_template, v.given) AS count_statement
    FROM omd.module AS m
    INNER JOIN omd.rollback_template AS t
        ON
            m.platform_code = t.platform_code
            AND t.area_code = 'HSTG'
            AND t.table_type_code IS NULL
            AND t.table_format_code IS NULL
    CROSS JOIN LATERAL omd._rollback_values(m.module_id, p_instance_array) AS v (given)
    WHERE
        m.module_id = p_module_id
        AND m.platform_code = 'POSTGRES'
        AND omd.target_column_type(m.table_code, m.insert_instance_column) IS NOT NULL
        AND EXISTS (
            SELECT FROM omd._fitting_templates(m.module_id) AS f
            WHERE f.module_id IS NULL AND f.statement_template ~* '^\s*TRUNCATE\M'
        );
END;

COMMENT ON FUNCTION omd._instead_of_truncate IS
'Returns, where the standard rollback of the Module p_module_id is TRUNCATE in this database: the '
'table, and the statement that deletes the rows of p_instance_array alone with a SELECT that '
'counts them. Else there is no row. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._instead_of_truncate TO omd_reader;
