-- The literal of a row is read back by casting it to the row type of a table with the same columns.

CREATE OR REPLACE FUNCTION omd_lineage._fill_kept_table(
    p_kept_table text,
    p_table regclass,
    p_step_id bigint,
    p_columns text[],
    p_module_instance_id bigint,
    p_written_by bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fill_kept_table$
DECLARE
    v_missing text := (
        SELECT min(c.name)
        FROM unnest(p_columns) AS c (name)
        WHERE NOT EXISTS (
            SELECT FROM pg_attribute AS a
            WHERE a.attrelid = p_table AND a.attname = c.name AND NOT a.attisdropped
        )
    );
BEGIN
    IF v_missing IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM218',
            jsonb_build_object(
                'table_code', p_table::text, 'module_instance_id', p_step_id,
                'column_name', v_missing
            )
        );
    END IF;
    EXECUTE format(
        'CREATE TEMPORARY TABLE %s ON COMMIT DROP AS SELECT %s FROM %s AS d WITH NO DATA',
        p_kept_table,
        (
            SELECT string_agg(format('d.%I', c.name), ', ' ORDER BY c.n)
            FROM unnest(p_columns) WITH ORDINALITY AS c (name, n)
        ),
        p_table
    );
    -- OFFSET keeps the cast from being done once per column.
    EXECUTE format(
        'INSERT INTO %1$s SELECT (x.r).* FROM ('
        'SELECT k.content::%1$s AS r FROM omd_lineage._kept_rows($1, $2) AS k'
        ' WHERE k.module_instance_id = $3 OFFSET 0) AS x',
        p_kept_table
    ) USING p_module_instance_id, p_written_by, p_step_id;
    EXECUTE format('ANALYZE %s', p_kept_table);
END
$fill_kept_table$;

COMMENT ON FUNCTION omd_lineage._fill_kept_table IS
'Creates the temporary table p_kept_table with the rows that the step p_step_id has replaced in '
'p_table, whose columns p_columns are kept. p_module_instance_id and p_written_by choose them, as '
'in _kept_rows. Errors: OM218: p_table lacks a column. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._fill_kept_table TO omd_runner, omd_admin;
