-- The row before the row of an undone step is the one that the next step has replaced.

CREATE OR REPLACE FUNCTION omd_lineage._hand_on_rows(
    p_table regclass,
    p_key text[],
    p_kept_table text,
    p_replaced text,
    p_columns text[],
    p_insert_instance_column text,
    p_module_instance_id bigint,
    p_condition text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO'
SET intervalstyle = 'postgres'
SET extra_float_digits = 1
AS $hand_on_rows$
DECLARE
    v_condition text;
BEGIN
    FOREACH v_condition IN ARRAY omd_lineage._match_keys(p_table, p_key, 'd', 'o', TRUE) LOOP
        EXECUTE format(
            'WITH found AS (DELETE FROM %s AS o'
            ' WHERE EXISTS (SELECT FROM %s AS d WHERE %s AND %s) RETURNING o.*)'
            ' SELECT omd_lineage._keep_rows($1, array_agg(o.%I::bigint), array_agg(ROW(%s)::text))'
            ' FROM found AS o HAVING count(*) > 0',
            p_kept_table, p_replaced, v_condition, p_condition, p_insert_instance_column,
            (
                SELECT string_agg(
                    CASE WHEN a.attname IS NULL THEN 'NULL' ELSE format('o.%I', c.name) END,
                    ', ' ORDER BY c.n
                )
                FROM unnest(p_columns) WITH ORDINALITY AS c (name, n)
                LEFT JOIN pg_attribute AS a
                    ON a.attrelid = to_regclass(p_kept_table) AND a.attname = c.name
            )
        ) USING p_module_instance_id;
    END LOOP;
END
$hand_on_rows$;

COMMENT ON FUNCTION omd_lineage._hand_on_rows IS
'Takes the rows whose keys p_key the rows (d) of p_replaced have where p_condition holds, out of '
'the temporary table p_kept_table of rows of p_table, and keeps their p_columns as rows that the '
'step p_module_instance_id has replaced. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._hand_on_rows TO omd_runner, omd_admin;
