-- Rows were taken out since the NULLs were counted.

CREATE OR REPLACE FUNCTION omd_lineage._count_nulls(
    p_block_table text,
    p_nulls jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $count_nulls$
DECLARE
    v_column text;
    v_rows bigint;
    v_nulls jsonb := '{}'::jsonb;
BEGIN
    FOR v_column IN SELECT k.name FROM jsonb_object_keys(p_nulls) AS k (name) LOOP
        -- A check is of the rows that the view has given, and is no column of the table.
        IF NOT EXISTS (
            SELECT FROM pg_attribute AS a
            WHERE a.attrelid = to_regclass(p_block_table) AND a.attname = v_column
        ) THEN
            v_nulls := v_nulls || jsonb_build_object(v_column, p_nulls -> v_column);
            CONTINUE;
        END IF;
        EXECUTE format(
            'SELECT count(*) FROM %s AS n WHERE n.%I IS NULL', p_block_table, v_column
        ) INTO v_rows;
        IF v_rows > 0 THEN
            v_nulls := v_nulls || jsonb_build_object(v_column, v_rows);
        END IF;
    END LOOP;
    RETURN v_nulls;
END
$count_nulls$;

COMMENT ON FUNCTION omd_lineage._count_nulls IS
'Returns the counts of NULLs in the temporary table p_block_table, for the columns in p_nulls '
'(column: number of NULLs); what is there under another name stays. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._count_nulls TO omd_runner;
