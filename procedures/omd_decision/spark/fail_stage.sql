-- A run whose block was taken back has done nothing wrong, but what it wrote has to go.

CREATE OR REPLACE PROCEDURE omd_decision.fail_stage(
    p_module_instance_id bigint,
    p_event_detail text DEFAULT NULL,
    p_event_return_code_details text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fail_stage$
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    IF NOT EXISTS (
        SELECT FROM omd_decision.run AS r WHERE r.module_instance_id = p_module_instance_id
    ) THEN
        PERFORM omd.raise_error(
            'OM181', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    ELSIF p_event_return_code_details ~ '^(OM114|(.*\.)?BlockUndone)$'
        AND EXISTS (SELECT FROM omd_decision._run_block(p_module_instance_id) AS b)
    THEN
        PERFORM omd.abort_written(p_module_instance_id, coalesce(p_event_detail, ''));
    ELSE
        CALL omd.module_failure(
            p_module_instance_id, p_event_detail, p_event_return_code_details
        );
    END IF;
END
$fail_stage$;

COMMENT ON PROCEDURE omd_decision.fail_stage IS
'For the driver: '
'Ends the run p_module_instance_id of a stage whose engine is Spark as failed, with the event '
'p_event_detail and the code p_event_return_code_details, as omd.module_failure does. With the '
'code that commit_stage raises where rows of the block were taken back (BlockUndone) it ends with '
'A, its rows go with the next begin, and the next run reads the block anew. Errors: OM004, OM005: '
'p_module_instance_id is NULL; OM101: it has ended; OM102; OM181: it is no run of a stage. Locks: '
'the instance row. Call again when the answer was lost; OM101 with execution_status_code F or A '
'says that it is done.';
GRANT EXECUTE ON PROCEDURE omd_decision.fail_stage TO omd_runner;
