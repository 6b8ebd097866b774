-- Ends a step that failed: F and R for its run, the error as the state of the topic; the block
-- stays, and the retry takes it again.

CREATE OR REPLACE PROCEDURE omd_lineage.fail_step(
    p_module_instance_id bigint,
    p_event_detail text DEFAULT NULL,
    p_event_return_code_details text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fail_step$
BEGIN
    IF p_module_instance_id IS NULL THEN
        PERFORM omd.raise_error(
            'OM005', jsonb_build_object('argument', 'p_module_instance_id')
        );
    END IF;
    UPDATE omd_lineage.offsets AS o SET
        hostid = '',
        module_instance_id = NULL,
        run = clock_timestamp(),
        state = left(
            coalesce(
                split_part(p_event_detail, E'\n', 1),
                nullif(substr(omd.why_failed(p_module_instance_id, 0), 3), ''),
                'failed'
            ),
            1000
        )
    WHERE o.module_instance_id = p_module_instance_id;
    PERFORM FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id AND mi.execution_status_code = 'E';
    IF FOUND THEN
        CALL omd.module_failure(
            p_module_instance_id, p_event_detail, p_event_return_code_details
        );
    END IF;
END
$fail_step$;

COMMENT ON PROCEDURE omd_lineage.fail_step IS
'Ends the step p_module_instance_id as failed, with the event p_event_detail and the code '
'p_event_return_code_details, as module_failure; frees the topic, which takes the same block '
'again later. A second call changes nothing. Errors: OM005, OM101. Locks: the offset, the '
'instance row.';
REVOKE ALL ON PROCEDURE omd_lineage.fail_step FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.fail_step TO omd_runner;
