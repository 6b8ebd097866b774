-- The call itself is performed in a block that always ends with an error, which undoes everything,
-- notifications and locks too, so the answer can't differ from that of the call. Deferred
-- constraints would be looked at only by a commit, so they are looked at before the end. A reason
-- is set, so that events are written here too. No rollback undoes what a function of a user has
-- done elsewhere, so no action is performed that may call one, and no plan reads a relation of one.

CREATE OR REPLACE FUNCTION omd_web.preview(
    p_action_code text,
    p_key text,
    p_arguments jsonb DEFAULT '{}',
    OUT outcome text,
    OUT answer jsonb,
    OUT before jsonb,
    OUT after jsonb,
    OUT warnings text[],
    OUT sqlstate_code text,
    OUT message text,
    OUT detail text,
    OUT hint text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $preview$
DECLARE
    v_action CONSTANT omd_web.action := omd_web._require_action(p_action_code);
    v_object CONSTANT jsonb := omd_web._evaluate(v_action.object_kind, p_key, p_action_code);
    v_call text;
    v_record record;
    v_is_performed boolean := FALSE;
    v_is_answered boolean := FALSE;
BEGIN
    before := v_object -> 'row';
    warnings := '{}';
    BEGIN
        v_call := omd_web._call(
            v_action,
            v_object #> ARRAY['actions', p_action_code, 'values'],
            coalesce(p_arguments, '{}'),
            FALSE
        );
        IF v_action.preview = 'NONE' THEN
            PERFORM omd_web._require_right(v_action.routine);
        ELSE
            PERFORM set_config('lock_timeout', '1s', TRUE);
            PERFORM set_config('omd.reason', 'preview', TRUE);
            IF (
                SELECT '{b,o}' && p.proargmodes::text[]
                FROM pg_proc AS p WHERE p.oid = v_action.routine::regproc
            ) THEN
                EXECUTE v_call INTO v_record;
                answer := to_jsonb(v_record);
            ELSE
                EXECUTE v_call;
            END IF;
            SET CONSTRAINTS ALL IMMEDIATE;
            EXECUTE format('SELECT to_jsonb(o) FROM %s', v_object ->> 'from') INTO after;
            warnings := omd_web._task_warnings(coalesce(answer, after));
        END IF;
        v_is_performed := TRUE;
        -- The plan is that of what has just been done.
        IF v_action.plan_query IS NOT NULL THEN
            EXECUTE format(
                'SELECT coalesce(jsonb_agg(to_jsonb(q)), ''[]'') FROM (SELECT o.* FROM %s) AS o '
                'CROSS JOIN LATERAL (%s) AS q',
                v_object ->> 'from', v_action.plan_query
            ) INTO answer;
        END IF;
        v_is_answered := TRUE;
        RAISE EXCEPTION USING ERRCODE = 'transaction_rollback', MESSAGE = 'nothing may change';
    EXCEPTION
        WHEN query_canceled OR assert_failure OR OTHERS THEN
            IF NOT v_is_answered THEN
                GET STACKED DIAGNOSTICS
                    sqlstate_code = RETURNED_SQLSTATE,
                    message = MESSAGE_TEXT,
                    detail = PG_EXCEPTION_DETAIL,
                    hint = PG_EXCEPTION_HINT;
                IF sqlstate_code = '57014' AND NOT omd_web._is_out_of_time() THEN
                    RAISE;
                END IF;
            END IF;
    END;

    IF v_is_answered AND v_action.preview = 'NONE' THEN
        outcome := 'UNKNOWN';
        message := 'it can''t be tried without effect: it ' || CASE
            WHEN omd_web._commits(v_action.routine) THEN 'commits in between'
            WHEN v_action.runs_user_sql THEN 'runs SQL that users have registered'
            ELSE 'may run for long'
        END;
    ELSIF v_is_answered THEN
        outcome := 'DONE';
    ELSE
        -- Somebody else holds what it needs, the time is over, or only the plan has failed.
        outcome := CASE
            WHEN v_is_performed OR sqlstate_code IN ('55P03', '40P01', '57014') THEN 'UNKNOWN'
            ELSE 'REFUSED'
        END;
        answer := NULL;
        after := NULL;
    END IF;
    detail := nullif(detail, '');
    hint := nullif(hint, '');
END
$preview$;

COMMENT ON FUNCTION omd_web.preview IS
'Performs p_action_code on the object p_key, with p_arguments as omd_web.statement takes them, '
'and undoes it. outcome: DONE: it would be done. REFUSED: it would be refused, as sqlstate_code, '
'message, detail and hint say; so are arguments that are missing (OM005) or not asked (OM013). '
'UNKNOWN: it can''t be tried, somebody else holds what it needs (it waits for at most a second '
'for each lock), or statement_timeout is over, which the caller should set first. answer: what '
'the procedure returns, or the rows of its plan. before, after: the row of the object. warnings: '
'what keeps its task from being run; what the procedure itself warns of comes as messages of the '
'session. Only sequences go on. Errors: OM005: p_action_code or p_key is NULL; OM098: there is no '
'such action or object. May be NULL: answer, after, sqlstate_code, message, detail, hint. Locks: '
'those of the call, for at most a second each; they are released before it returns.';
GRANT EXECUTE ON FUNCTION omd_web.preview TO omd_reader;
