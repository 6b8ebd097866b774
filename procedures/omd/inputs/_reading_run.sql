-- Whoever records what a run reads names it, or is it.

CREATE OR REPLACE FUNCTION omd._reading_run(
    p_module_instance_id bigint
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $reading_run$
DECLARE
    v_id bigint := p_module_instance_id;
BEGIN
    IF v_id IS NULL
        AND current_setting('omd.module_instance_id', TRUE) ~ '^\d{1,18}$'
    THEN
        v_id := current_setting('omd.module_instance_id')::bigint;
    END IF;
    v_id := omd.require_argument('p_module_instance_id', v_id);
    PERFORM FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = v_id
        AND mi.execution_status_code = 'E'
        AND mi.processing_indicator IN ('P', 'R')
    FOR KEY SHARE;
    IF NOT FOUND THEN
        PERFORM omd._raise_module_instance_state(v_id, 'record what it reads');
    END IF;
    RETURN v_id;
END
$reading_run$;

COMMENT ON FUNCTION omd._reading_run IS
'Returns p_module_instance_id; NULL: the run of this session. It must execute. Errors: OM004, '
'OM005, OM101, OM102. Locks: the instance, against deletion.';
GRANT EXECUTE ON FUNCTION omd._reading_run TO omd_runner;
