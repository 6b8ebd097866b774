-- A row outlives what is kept of its run, and a row that a stranger wrote names none.

CREATE OR REPLACE FUNCTION omd_provenance._way_steps(
    p_module_instance_id bigint,
    p_way jsonb
)
RETURNS TABLE (
    step text,
    module_instance_id bigint,
    delivery_id bigint,
    text text,
    detail jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $way_steps$
BEGIN
    IF p_module_instance_id IS NULL OR NOT EXISTS (
        SELECT FROM omd.shown_runs(ARRAY[p_module_instance_id]) AS r
    ) THEN
        RETURN QUERY SELECT
            'RUN', p_module_instance_id, NULL::bigint,
            CASE
                WHEN p_module_instance_id IS NULL THEN 'The row names no run.'
                ELSE
                    format(
                        'The row was written by run %s, which is not kept.', p_module_instance_id
                    )
            END,
            '{}'::jsonb;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT
        CASE WHEN t.direction = 'SELF' THEN 'RUN' ELSE 'SOURCE' END,
        t.module_instance_id,
        t.delivery_id,
        concat(
            CASE
                WHEN t.direction = 'SELF' THEN 'It was written by '
                ELSE concat(
                    CASE WHEN t.distance = 1 THEN 'It' ELSE 'Run ' || t.because_of END,
                    CASE WHEN t.is_exact THEN ' has read ' ELSE ' may have read ' END
                )
            END,
            t.text,
            CASE WHEN NOT t.stands THEN '; this run does not stand' END,
            '.'
        ),
        jsonb_build_object(
            'module_code', t.module_code, 'module_kind_code', t.module_kind_code,
            'table_code', t.table_code, 'distance', t.distance, 'because_of', t.because_of,
            'is_exact', t.is_exact, 'stands', t.stands, 'block', (
                SELECT
                    jsonb_build_object(
                        'source_code', r.source_code, 'start_value', r.start_value,
                        'start_id', r.start_id, 'end_value', r.end_value, 'end_id', r.end_id
                    )
                FROM omd.shown_runs(ARRAY[t.module_instance_id]) AS r
                WHERE r.end_value IS NOT NULL OR r.end_id IS NOT NULL
            )
        )
    FROM omd_provenance._shown_way(p_module_instance_id, p_way) AS t;
END
$way_steps$;

COMMENT ON FUNCTION omd_provenance._way_steps IS
'Returns what omd_provenance._run_steps does. p_way: as for omd_provenance._shown_way. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_provenance._way_steps TO omd_data_reader;
