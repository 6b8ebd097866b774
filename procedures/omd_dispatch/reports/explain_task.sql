-- The reasons are in the order in which a claim asks for them. A search needs criteria; people who
-- have the id of a task from a log or a report ask here.

CREATE OR REPLACE FUNCTION omd_dispatch.explain_task(
    p_task_id bigint
)
RETURNS TABLE (
    family_code text,
    task_type text,
    status text,
    reason text,
    detail text,
    task_id bigint,
    criteria jsonb,
    payload jsonb,
    lane text,
    priority integer,
    execution_time timestamptz,
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
AS $explain_task$
DECLARE
    v_type omd_dispatch.task_conf_type_desc;
    v_mark bigint;
    v_running bigint;
BEGIN
    family_code := omd_dispatch._family_of_task(p_task_id);
    EXECUTE format(
        'SELECT t.task_type, t.status, t.task_id, %s, t.payload, t.lane, t.priority::integer,'
        ' t.execution_time, t.attempt, t.suspension_id, t.claimed_by, t.claimed_at,'
        ' t.cancel_requested, t.created_at, t.finished_at, t.outcome,'
        ' omd_dispatch._shown_error(t.error),'
        ' t.batch_instance_id, t.module_instance_id, t.schedule_code'
        ' FROM %s AS t WHERE t.task_id = $1',
        omd_dispatch._criteria_sql(family_code), omd_dispatch._model_table(family_code)
    )
    INTO
        task_type, status, task_id, criteria, payload, lane, priority,
        execution_time, attempt, suspension_id, claimed_by, claimed_at,
        cancel_requested, created_at, finished_at, outcome,
        error,
        batch_instance_id, module_instance_id, schedule_code
    USING p_task_id;
    v_type := omd_dispatch._require_type(family_code, task_type);
    reason := status;
    IF status <> 'PENDING' THEN
        detail := CASE status
            WHEN 'CLAIMED' THEN format(
                'worker %s has it since %s, attempt %s', claimed_by, claimed_at, attempt
            )
            ELSE
                concat_ws(': ', format('since %s', finished_at), error)
        END;
        RETURN NEXT;
        RETURN;
    END IF;
    v_mark := suspension_id;
    suspension_id := omd_dispatch._matching_suspension(family_code, task_type, criteria);
    IF v_type.max_running IS NOT NULL THEN
        EXECUTE format(
            'SELECT count(*) FROM %s WHERE status = ''CLAIMED'' AND lane = $1',
            omd_dispatch._model_table(family_code)
        )
        INTO v_running
        USING lane;
    END IF;
    IF suspension_id IS NOT NULL THEN
        reason := 'SUSPENDED';
        detail := format(
            'suspension %s holds it: CALL omd_dispatch.resume(%s);', suspension_id, suspension_id
        );
    ELSIF execution_time > clock_timestamp() THEN
        reason := 'NOT_DUE';
        detail := concat_ws(
            '; ', format('it is due at %s', execution_time), 'last error: ' || error
        );
    ELSIF v_running >= v_type.max_running THEN
        reason := 'LANE_FULL';
        detail := format('%s of %s tasks run in lane %s', v_running, v_type.max_running, lane);
    ELSIF NOT EXISTS (
        SELECT FROM omd_dispatch.backend_registration AS b
        WHERE b.backend_type = v_type.deliver_id
            AND omd_dispatch._lives(b.registration_time, b.ttl, statement_timestamp())
    ) THEN
        reason := 'NO_BACKEND';
        detail := format(
            'no worker of group %s lives: omd worker --group %s', v_type.deliver_id,
            v_type.deliver_id
        );
    ELSE
        reason := 'DUE';
        detail := concat_ws(
            '; ',
            format('it waits in lane %s since %s', lane, execution_time),
            'a round of maintain takes the mark of suspension ' || v_mark || ' off'
        );
    END IF;
    RETURN NEXT;
END
$explain_task$;

COMMENT ON FUNCTION omd_dispatch.explain_task IS
'One row: what the task p_task_id is and waits for, and all that is known about it. reason is its '
'status, or of a pending task the first of SUSPENDED, NOT_DUE, LANE_FULL, NO_BACKEND and DUE that '
'holds; detail says more. Errors: OM005: p_task_id is NULL; OM072: it is unknown. Locks: none. May '
'be NULL: payload, suspension_id, claimed_by, claimed_at, finished_at, outcome, error, '
'batch_instance_id, module_instance_id, schedule_code.';
GRANT EXECUTE ON FUNCTION omd_dispatch.explain_task TO omd_reader;
