-- A worker that has the task ends it at its next renewal.

CREATE OR REPLACE PROCEDURE omd_dispatch.cancel_task(
    p_task_id bigint,
    p_running boolean DEFAULT FALSE
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $cancel_task$
DECLARE
    v_task record;
BEGIN
    v_task := omd_dispatch._lock_task(p_task_id);
    IF v_task.p_status = 'CLAIMED' AND p_running THEN
        EXECUTE format(
            'UPDATE %s SET cancel_requested = TRUE'
            ' WHERE task_id = $1 AND NOT cancel_requested',
            omd_dispatch._model_table(v_task.p_family_code)
        ) USING p_task_id;
    ELSIF v_task.p_status = 'PENDING' THEN
        EXECUTE format(
            'UPDATE %s SET status = ''CANCELLED'', suspension_id = NULL,'
            ' finished_at = clock_timestamp() WHERE task_id = $1',
            omd_dispatch._model_table(v_task.p_family_code)
        ) USING p_task_id;
        DELETE FROM omd_dispatch.mutex AS m WHERE m.task_id = p_task_id;
    ELSE
        PERFORM omd.raise_error(
            'OM171',
            jsonb_build_object(
                'task_id', p_task_id,
                'status', v_task.p_status,
                'action', CASE
                    WHEN v_task.p_status = 'CLAIMED' THEN 'be cancelled without p_running'
                    ELSE 'be cancelled'
                END
            )
        );
    END IF;
    IF omd.is_by_hand() THEN
        PERFORM omd.write_event(
            0, 0, 4, 'CANCELLED',
            format(
                '%s: task %s (%s %s), which was %s',
                omd.editor(), p_task_id, v_task.p_family_code, v_task.p_task_type, v_task.p_status
            )
        );
    END IF;
END
$cancel_task$;

COMMENT ON PROCEDURE omd_dispatch.cancel_task IS
'Cancels the pending task p_task_id. p_running: also one that runs: its worker is asked to end it.'
' Errors: OM005: p_task_id is NULL; OM014: the isolation level is not read committed; OM072: it is'
' unknown; OM171: it has ended, or it runs. Locks: the task and its key.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.cancel_task TO omd_runner, omd_admin;
