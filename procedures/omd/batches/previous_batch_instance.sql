-- Aborted and skipped instances decide nothing, so they are passed over.

CREATE OR REPLACE FUNCTION omd.previous_batch_instance(
    p_batch_code text
)
RETURNS TABLE (
    batch_instance_id bigint,
    start_datetime timestamptz,
    end_datetime timestamptz,
    execution_status_code text,
    processing_indicator text,
    next_run_indicator text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $previous_batch_instance$
DECLARE
    v_batch_id integer := omd._require_batch(p_batch_code);
BEGIN
    RETURN QUERY
    SELECT
        bi.batch_instance_id, bi.start_datetime, bi.end_datetime,
        bi.execution_status_code::text, bi.processing_indicator::text,
        bi.next_run_indicator::text
    FROM omd.batch_instance AS bi
    WHERE bi.batch_instance_id = omd._last_real_batch_run(v_batch_id);
END
$previous_batch_instance$;

COMMENT ON FUNCTION omd.previous_batch_instance IS
'One row or none: the last real run of the Batch p_batch_code (status S or F, newest by id) with '
'its codes. There is no row when it has never run. Errors: OM001, OM005. Locks: none. DIRECT, '
'"Implementation Guidelines".';
GRANT EXECUTE ON FUNCTION omd.previous_batch_instance TO omd_reader;
