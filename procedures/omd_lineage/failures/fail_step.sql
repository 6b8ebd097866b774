-- The block stays planned, so that the retry takes the same one, whatever rows have arrived since.
-- But a block that an undo of facts has reached over is planned anew, and that is no failure of the
-- step.

CREATE OR REPLACE PROCEDURE omd_lineage.fail_step(
    p_module_instance_id bigint,
    p_event_detail text DEFAULT NULL,
    p_event_return_code_details text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fail_step$
DECLARE
    v_instance record;
    v_is_undone boolean;
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    SELECT i.execution_status_code, t.topic_id INTO v_instance
    FROM omd.instance_state(p_module_instance_id) AS i
    INNER JOIN omd_lineage.topic AS t USING (module_id);
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    END IF;
    v_is_undone := v_instance.execution_status_code = 'A'
        OR coalesce(p_event_return_code_details ~ '^OM114$|(^|\.)BlockUndone$', FALSE);
    UPDATE omd_lineage.offsets AS o SET
        next = CASE WHEN v_is_undone THEN NULL ELSE o.next END,
        attempts = CASE WHEN v_is_undone THEN 0 ELSE o.attempts END,
        hostid = '',
        module_instance_id = NULL,
        run = clock_timestamp(),
        state = left(
            coalesce(
                split_part(p_event_detail, E'\n', 1),
                nullif(omd.why_failed(p_module_instance_id, 0), ''),
                'failed'
            ),
            1000
        )
    WHERE o.topic_id = v_instance.topic_id AND o.module_instance_id = p_module_instance_id;
    IF v_instance.execution_status_code = 'E' AND v_is_undone THEN
        PERFORM omd.abort_written(p_module_instance_id, coalesce(p_event_detail, ''));
    ELSIF v_instance.execution_status_code = 'E' THEN
        CALL omd.module_failure(
            p_module_instance_id, p_event_detail, p_event_return_code_details
        );
    END IF;
END
$fail_step$;

COMMENT ON PROCEDURE omd_lineage.fail_step IS
'For the driver: '
'Ends the step p_module_instance_id as failed, with the event p_event_detail and the code '
'p_event_return_code_details, as module_failure does; with BlockUndone, since its block was taken '
'back, it ends with A, and its rows go with the next begin. It releases the topic, whose next step '
'takes the same block. A second call changes nothing. Errors: OM004: there is no such instance of '
'a topic; OM005: p_module_instance_id is NULL. Locks: the offset, the instance row. Call again '
'when the answer was lost; OM101 with execution_status_code F says that it is done.';
GRANT EXECUTE ON PROCEDURE omd_lineage.fail_step TO omd_runner;
