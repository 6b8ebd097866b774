-- A search needs criteria; people who have the id of a task from a log or a report ask here.

CREATE OR REPLACE FUNCTION omd_dispatch.task_state(
    p_task_id bigint
)
RETURNS TABLE (
    task_id bigint,
    family_code text,
    task_type text,
    criteria jsonb,
    payload jsonb,
    lane text,
    priority integer,
    execution_time timestamptz,
    status text,
    attempt integer,
    suspension_id bigint,
    claimed_by text,
    claimed_at timestamptz,
    cancel_requested boolean,
    created_at timestamptz,
    finished_at timestamptz,
    outcome text,
    error text,
    batch_instance_id bigint,
    module_instance_id bigint,
    schedule_code text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
AS $task_state$
DECLARE
    v_family_code text := omd_dispatch._family_of_task(p_task_id);
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT t.task_id, $2, t.task_type, %s, t.payload, t.lane, t.priority::integer,'
        ' t.execution_time, t.status, t.attempt, t.suspension_id, t.claimed_by, t.claimed_at,'
        ' t.cancel_requested, t.created_at, t.finished_at, t.outcome,'
        ' omd_dispatch._shown_error(t.error),'
        ' t.batch_instance_id, t.module_instance_id, t.schedule_code'
        ' FROM %s AS t WHERE t.task_id = $1',
        omd_dispatch._criteria_sql(v_family_code), omd_dispatch._model_table(v_family_code)
    ) USING p_task_id, v_family_code;
END
$task_state$;

COMMENT ON FUNCTION omd_dispatch.task_state IS
'One row: all that is known about the task p_task_id; explain_task says what it waits for. Errors:'
' OM005: p_task_id is NULL; OM072: it is unknown. Locks: none. May be NULL: payload, '
'suspension_id, claimed_by, claimed_at, finished_at, outcome, error, batch_instance_id, '
'module_instance_id, schedule_code.';
GRANT EXECUTE ON FUNCTION omd_dispatch.task_state TO omd_reader;
