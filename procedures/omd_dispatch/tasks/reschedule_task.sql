-- Time and priority are the place of a task in its lane.

CREATE OR REPLACE PROCEDURE omd_dispatch.reschedule_task(
    p_task_id bigint,
    p_execution_time timestamptz DEFAULT NULL,
    p_priority integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $reschedule_task$
DECLARE
    v_task record;
BEGIN
    PERFORM omd_dispatch._require_task_arguments(NULL, p_execution_time, p_priority, NULL);
    v_task := omd_dispatch._lock_task(p_task_id);
    IF v_task.p_status <> 'PENDING' THEN
        PERFORM omd.raise_error(
            'OM171',
            jsonb_build_object(
                'task_id', p_task_id, 'status', v_task.p_status, 'action', 'be rescheduled'
            )
        );
    END IF;
    EXECUTE format(
        'UPDATE %s SET execution_time = coalesce($2, execution_time),'
        ' priority = coalesce($3, priority) WHERE task_id = $1',
        omd_dispatch._model_table(v_task.p_family_code)
    ) USING p_task_id, p_execution_time, p_priority::smallint;
    PERFORM omd_dispatch._notify_due(v_task.p_family_code, v_task.p_task_type, p_execution_time);
    IF omd.is_by_hand() THEN
        PERFORM omd.write_event(
            0, 0, 4, 'RESCHEDULED',
            format(
                '%s: task %s (%s %s)%s%s',
                omd.editor(), p_task_id, v_task.p_family_code, v_task.p_task_type,
                ', due at ' || p_execution_time, ', priority ' || p_priority
            )
        );
    END IF;
END
$reschedule_task$;

COMMENT ON PROCEDURE omd_dispatch.reschedule_task IS
'Gives the pending task p_task_id another time or priority. p_execution_time: when it is due; NULL'
' keeps. p_priority: 0 to 9; NULL keeps. Errors: OM005: p_task_id is NULL; OM013: an argument is '
'not allowed; OM014: the isolation level is not read committed; OM072: it is unknown; OM171: it is'
' not pending. Locks: the task. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.reschedule_task TO omd_runner, omd_admin;
