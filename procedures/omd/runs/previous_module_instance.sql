-- Aborted and skipped instances decide nothing, so they are passed over.

CREATE OR REPLACE FUNCTION omd.previous_module_instance(
    p_module_code text
)
RETURNS TABLE (
    module_instance_id bigint,
    batch_instance_id bigint,
    start_datetime timestamptz,
    end_datetime timestamptz,
    execution_status_code text,
    processing_indicator text,
    next_run_indicator text,
    instance_array bigint[]
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $previous_module_instance$
DECLARE
    v_module_id integer := omd._require_module(p_module_code);
BEGIN
    RETURN QUERY
    SELECT
        mi.module_instance_id, mi.batch_instance_id, mi.start_datetime, mi.end_datetime,
        mi.execution_status_code::text, mi.processing_indicator::text,
        mi.next_run_indicator::text,
        omd.pending_rollback(v_module_id)
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = omd._last_real_module_run(v_module_id);
END
$previous_module_instance$;

COMMENT ON FUNCTION omd.previous_module_instance IS
'One row or none: the last real run of the Module p_module_code (status S or F, newest by id) '
'with its codes, and instance_array, which a begin would roll back now. There is no row when it '
'has never run. Errors: OM002, OM005. Locks: none. DIRECT, "Implementation Guidelines".';
GRANT EXECUTE ON FUNCTION omd.previous_module_instance TO omd_reader;
