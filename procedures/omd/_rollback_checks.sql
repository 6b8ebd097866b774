-- A rollback is checked by counting the rows that are left in each target of this database. It is a
-- count, since the planner plans it like the DELETE; a search for the first row would read the
-- whole table where the planner expects a row soon. A template that keeps rows is not checked, and
-- neither is a target without a column of instance ids.

CREATE OR REPLACE FUNCTION omd._rollback_checks(
    p_module_instance_id bigint
)
RETURNS TABLE (
    module_code text,
    table_code text,
    instance_array bigint[],
    statement text
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        m.module_code,
        m.table_code,
        p.instance_array,
        omd._fill_template(
            'SELECT count(*) FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})',
            omd._rollback_values(m.module_id, p.instance_array)
        ) AS statement
    FROM omd._rollback_parts(p_module_instance_id) AS p
    INNER JOIN omd.module AS m ON p.module_id = m.module_id
    WHERE
        m.platform_code = 'POSTGRES'
        AND EXISTS (
            SELECT FROM pg_attribute AS a
            INNER JOIN pg_type AS t ON a.atttypid = t.oid
            WHERE
                a.attrelid = omd.target_relation(m.table_code)
                AND a.attname::text = m.insert_instance_column
                AND a.attnum > 0
                AND NOT a.attisdropped
                AND t.typcategory = 'N'
        )
        AND NOT EXISTS (
            SELECT FROM omd._fitting_templates(m.module_id) AS f
            WHERE f.keeps_rows
        )
    ORDER BY p.place;
END;

COMMENT ON FUNCTION omd._rollback_checks IS
'Returns, for each target in this database that a rollback of the Module Instance clears: the '
'Module, its target, the instances, and a SELECT that counts their rows that are still there. '
'Errors: OM004, OM005. Locks: none.';
REVOKE ALL ON FUNCTION omd._rollback_checks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._rollback_checks TO omd_runner;
