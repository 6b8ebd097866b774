-- The reasons are in the order in which a claim asks for them.

CREATE OR REPLACE FUNCTION omd_dispatch.explain_task(
    p_task_id bigint
)
RETURNS TABLE (
    family_code text,
    task_type text,
    status text,
    reason text,
    detail text
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
    v_lane text;
    v_criteria jsonb;
    v_execution_time timestamptz;
    v_attempt integer;
    v_suspension_id bigint;
    v_claimed_by text;
    v_claimed_at timestamptz;
    v_finished_at timestamptz;
    v_error text;
    v_type omd_dispatch.task_conf_type_desc;
    v_held bigint;
    v_running bigint;
BEGIN
    family_code := omd_dispatch._family_of_task(p_task_id);
    EXECUTE format(
        'SELECT t.task_type, t.status, t.lane, %s, t.execution_time, t.attempt, t.suspension_id,'
        ' t.claimed_by, t.claimed_at, t.finished_at,'
        ' omd_dispatch._shown_error(t.error) FROM %s AS t WHERE t.task_id = $1',
        omd_dispatch._criteria_sql(family_code), omd_dispatch._model_table(family_code)
    )
    INTO
        task_type, status, v_lane, v_criteria, v_execution_time, v_attempt, v_suspension_id,
        v_claimed_by, v_claimed_at, v_finished_at, v_error
    USING p_task_id;
    v_type := omd_dispatch._require_type(family_code, task_type);
    reason := status;
    IF status <> 'PENDING' THEN
        detail := CASE status
            WHEN 'CLAIMED' THEN format(
                'worker %s has it since %s, attempt %s', v_claimed_by, v_claimed_at, v_attempt
            )
            ELSE
                concat_ws(': ', format('since %s', v_finished_at), v_error)
        END;
        RETURN NEXT;
        RETURN;
    END IF;
    v_held := coalesce(
        v_suspension_id,
        omd_dispatch._matching_suspension(family_code, task_type, v_criteria)
    );
    IF v_type.max_running IS NOT NULL THEN
        EXECUTE format(
            'SELECT count(*) FROM %s WHERE status = ''CLAIMED'' AND lane = $1',
            omd_dispatch._model_table(family_code)
        )
        INTO v_running
        USING v_lane;
    END IF;
    IF v_held IS NOT NULL THEN
        reason := 'SUSPENDED';
        detail := format('suspension %s holds it: CALL omd_dispatch.resume(%s);', v_held, v_held);
    ELSIF v_execution_time > clock_timestamp() THEN
        reason := 'NOT_DUE';
        detail := concat_ws(
            '; ', format('it is due at %s', v_execution_time), 'last error: ' || v_error
        );
    ELSIF v_running >= v_type.max_running THEN
        reason := 'LANE_FULL';
        detail := format('%s of %s tasks run in lane %s', v_running, v_type.max_running, v_lane);
    ELSIF NOT EXISTS (
        SELECT FROM omd_dispatch.backend_registration AS b
        WHERE b.backend_type = v_type.deliver_id
            AND omd_dispatch._lives(b.registration_time, b.ttl, statement_timestamp())
    ) THEN
        reason := 'NO_BACKEND';
        detail := format(
            'no worker of group %s lives: omd dispatch run --group %s', v_type.deliver_id,
            v_type.deliver_id
        );
    ELSE
        reason := 'DUE';
        detail := format('it waits in lane %s since %s', v_lane, v_execution_time);
    END IF;
    RETURN NEXT;
END
$explain_task$;

COMMENT ON FUNCTION omd_dispatch.explain_task IS
'One row: what the task p_task_id is and waits for. reason is its status, or of a pending task the'
' first of SUSPENDED, NOT_DUE, LANE_FULL, NO_BACKEND and DUE that holds; detail says more. Errors:'
' OM005: p_task_id is NULL; OM072: it is unknown. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch.explain_task TO omd_reader;
