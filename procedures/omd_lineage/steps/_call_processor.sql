-- Nobody but the procedure knows what it does, so it may say how many rows it wrote. If it does
-- not, the rows that carry the id of the step are counted; an index on that column makes this as
-- cheap as it makes a rollback.

CREATE OR REPLACE PROCEDURE omd_lineage._call_processor(
    p_processor text,
    p_topic text,
    p_table_code text,
    p_insert_instance_column text,
    p_module_instance_id bigint,
    INOUT p_row_count bigint DEFAULT NULL,
    INOUT p_nulls jsonb DEFAULT NULL,
    INOUT p_told jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $call_processor$
DECLARE
    v_processor CONSTANT text[] := parse_ident(p_processor);
    v_table CONSTANT regclass := to_regclass(p_table_code);
    v_counts text;
BEGIN
    EXECUTE format('CALL %I.%I($1)', v_processor[1], v_processor[2]) USING p_topic;

    p_told := nullif(current_setting('omd.row_counts', TRUE), '')::jsonb;
    IF p_told IS NOT NULL THEN
        p_row_count := coalesce((p_told ->> 'inserted')::bigint, 0)
            + coalesce((p_told ->> 'updated')::bigint, 0);
        p_nulls := '{}';
        RETURN;
    END IF;
    SELECT
        string_agg(
            format('%L, nullif(count(*) FILTER (WHERE n.%I IS NULL), 0)', a.attname, a.attname),
            ', ' ORDER BY a.attnum
        )
    INTO v_counts
    FROM pg_attribute AS a
    WHERE a.attrelid = v_table AND a.attnum > 0 AND NOT a.attisdropped AND NOT a.attnotnull;
    EXECUTE format(
        'SELECT count(*), jsonb_strip_nulls(jsonb_build_object(%s)) FROM %s AS n WHERE n.%I = $1',
        v_counts, v_table, p_insert_instance_column
    ) INTO p_row_count, p_nulls USING p_module_instance_id;
END
$call_processor$;

COMMENT ON PROCEDURE omd_lineage._call_processor IS
'Calls the procedure p_processor with p_topic. Returns p_row_count, the rows that it inserted or '
'updated: as it has said with omd.tell_row_counts (p_told), else the rows of p_table_code with '
'p_module_instance_id in p_insert_instance_column, of which p_nulls has the number of NULLs for '
'each column that has any. Locks: what the procedure takes.';
GRANT EXECUTE ON PROCEDURE omd_lineage._call_processor TO omd_runner;
