-- A change of the lanes waits for all who write tasks, so that none comes into an old lane after
-- it. It moves the tasks that run too, since they may wait again.

CREATE OR REPLACE PROCEDURE omd_dispatch.register_task_type(
    p_family_code text,
    p_task_type text,
    p_handler text DEFAULT NULL,
    p_target text DEFAULT NULL,
    p_deliver_id text DEFAULT NULL,
    p_timeout interval DEFAULT NULL,
    p_max_attempts integer DEFAULT NULL,
    p_backoff interval DEFAULT NULL,
    p_backoff_limit interval DEFAULT NULL,
    p_later_after interval DEFAULT NULL,
    p_max_running integer DEFAULT NULL,
    p_limit_criterion text DEFAULT NULL,
    p_on_failure text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET intervalstyle = 'postgres'
SET enable_seqscan = off
SET jit = off
AS $register_task_type$
DECLARE
    v_old omd_dispatch.task_conf_type_desc;
    v_new omd_dispatch.task_conf_type_desc;
    v_wrong record;
    v_moves boolean;
BEGIN
    PERFORM omd.require_read_committed();
    PERFORM omd_dispatch._require_family(p_family_code);
    PERFORM omd_dispatch._require_code('p_task_type', p_task_type);
    PERFORM FROM omd_dispatch.task_conf_family_desc AS f
    WHERE f.family_code = p_family_code
    FOR NO KEY UPDATE;
    SELECT t.* INTO v_old FROM omd_dispatch.task_conf_type_desc AS t
    WHERE t.family_code = p_family_code AND t.task_type = p_task_type;

    v_new.family_code := p_family_code;
    v_new.task_type := p_task_type;
    v_new.handler := coalesce(upper(p_handler), v_old.handler);
    v_new.target := nullif(coalesce(p_target, v_old.target), '');
    v_new.deliver_id := coalesce(p_deliver_id, v_old.deliver_id, 'WORKER');
    v_new.timeout := nullif(coalesce(p_timeout, v_old.timeout), interval '0');
    v_new.max_attempts := coalesce(p_max_attempts, v_old.max_attempts, 5);
    v_new.backoff := coalesce(p_backoff, v_old.backoff, interval '10 seconds');
    v_new.backoff_limit := coalesce(p_backoff_limit, v_old.backoff_limit, interval '1 hour');
    v_new.later_after := coalesce(p_later_after, v_old.later_after, interval '30 seconds');
    v_new.max_running := nullif(coalesce(p_max_running, v_old.max_running), 0);
    v_new.limit_criterion := nullif(coalesce(p_limit_criterion, v_old.limit_criterion), '');
    v_new.on_failure := coalesce(upper(p_on_failure), v_old.on_failure, 'RETRY');

    IF v_new.handler IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_handler'));
    END IF;
    PERFORM omd_dispatch._require_code('p_deliver_id', v_new.deliver_id);
    IF v_new.limit_criterion IS NOT NULL THEN
        PERFORM omd_dispatch._require_criterion(p_family_code, v_new.limit_criterion);
    END IF;
    SELECT w.argument, w.value, w.expected INTO v_wrong
    FROM (
        VALUES
        (
            'p_handler', v_new.handler, 'BATCH, MODULE, SQL or PYTHON',
            v_new.handler IN ('BATCH', 'MODULE', 'SQL', 'PYTHON')
        ),
        (
            'p_handler', v_new.handler, 'another one: the family has no criterion CODE of type text',
            v_new.handler NOT IN ('BATCH', 'MODULE') OR EXISTS (
                SELECT FROM omd_dispatch.task_conf_family_model AS m
                WHERE m.family_code = p_family_code
                    AND m.criterion = 'CODE'
                    AND m.data_type = 'text'
            )
        ),
        (
            'p_target', v_new.target, 'a procedure: schema.procedure',
            v_new.handler <> 'SQL' OR omd.quote_table(v_new.target, 'POSTGRES') IS NOT NULL
        ),
        (
            'p_target', v_new.target, 'a Python function: module:function',
            v_new.handler = 'SQL'
            OR (v_new.handler <> 'PYTHON' AND v_new.target IS NULL)
            OR v_new.target ~ '^[^\s:]+:[^\s:]+$'
        ),
        (
            'p_timeout', v_new.timeout::text, 'greater than zero, or 0 for none',
            coalesce(v_new.timeout > interval '0', TRUE)
        ),
        (
            'p_max_attempts', v_new.max_attempts::text, 'greater than zero', v_new.max_attempts > 0
        ),
        ('p_backoff', v_new.backoff::text, 'not negative', v_new.backoff >= interval '0'),
        (
            'p_backoff_limit', v_new.backoff_limit::text, 'at least p_backoff',
            v_new.backoff_limit >= v_new.backoff
        ),
        (
            'p_later_after', v_new.later_after::text, 'not negative',
            v_new.later_after >= interval '0'
        ),
        (
            'p_max_running', v_new.max_running::text, 'greater than zero, or 0 for no limit',
            coalesce(v_new.max_running > 0, TRUE)
        ),
        (
            'p_limit_criterion', v_new.limit_criterion, 'used with p_max_running',
            v_new.limit_criterion IS NULL OR v_new.max_running IS NOT NULL
        ),
        ('p_on_failure', v_new.on_failure, 'RETRY or END', v_new.on_failure IN ('RETRY', 'END'))
        UNION ALL
        -- A time in so many years, or with a minus in it, might not be later than now.
        SELECT i.argument, i.value::text, 'at most 10 years, without negative parts',
            i.value <= interval '10 years' AND i.value::text NOT LIKE '%-%'
        FROM (
            VALUES
            ('p_timeout', coalesce(v_new.timeout, interval '0')),
            ('p_backoff', v_new.backoff),
            ('p_backoff_limit', v_new.backoff_limit),
            ('p_later_after', v_new.later_after)
        ) AS i (argument, value)
    ) AS w (argument, value, expected, is_right)
    WHERE NOT coalesce(w.is_right, FALSE)
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', v_wrong.argument,
                'value', left(coalesce(v_wrong.value, 'NULL'), 60),
                'expected', v_wrong.expected
            )
        );
    END IF;

    IF v_old.family_code IS NULL THEN
        INSERT INTO omd_dispatch.task_conf_type_desc SELECT v_new.*;
        CALL omd_dispatch._make_job_tables(p_family_code);
        RETURN;
    ELSIF v_old IS NOT DISTINCT FROM v_new THEN
        RETURN;
    END IF;
    v_moves := (v_new.deliver_id, v_new.max_running IS NULL, v_new.limit_criterion)
        IS DISTINCT FROM (v_old.deliver_id, v_old.max_running IS NULL, v_old.limit_criterion);
    -- What is written before it waits would have the changes of other families wait too.
    IF v_moves THEN
        PERFORM omd_dispatch._change_model(p_family_code, current_setting('lock_timeout'));
    END IF;
    UPDATE omd_dispatch.task_conf_type_desc AS t SET
        handler = v_new.handler,
        target = v_new.target,
        deliver_id = v_new.deliver_id,
        timeout = v_new.timeout,
        max_attempts = v_new.max_attempts,
        backoff = v_new.backoff,
        backoff_limit = v_new.backoff_limit,
        later_after = v_new.later_after,
        max_running = v_new.max_running,
        limit_criterion = v_new.limit_criterion,
        on_failure = v_new.on_failure
    WHERE t.family_code = p_family_code AND t.task_type = p_task_type;
    CALL omd_dispatch._make_job_tables(p_family_code);
    IF v_moves THEN
        BEGIN
            EXECUTE format(
                'UPDATE %s AS t SET lane = omd_dispatch._lane($2, %s)'
                ' WHERE t.task_type = $1 AND (t.status = ''CLAIMED'' OR t.suspension_id IS NOT NULL'
                ' OR (t.status = ''PENDING'' AND t.suspension_id IS NULL))',
                omd_dispatch._model_table(p_family_code),
                omd_dispatch._criteria_sql(p_family_code)
            ) USING p_task_type, v_new;
        EXCEPTION
            WHEN program_limit_exceeded THEN
                PERFORM omd.raise_error(
                    'OM013',
                    jsonb_build_object(
                        'argument', 'p_limit_criterion',
                        'value', v_new.limit_criterion,
                        'expected', format('one with shorter values (%s)', sqlerrm)
                    )
                );
        END;
        PERFORM omd_dispatch._tell_due(v_new.deliver_id);
    END IF;
END
$register_task_type$;

COMMENT ON PROCEDURE omd_dispatch.register_task_type IS
'Registers the type p_task_type of tasks in the family p_family_code, or changes it; a NULL '
'argument keeps the present value. p_handler: BATCH or MODULE (a run of the one that the criterion'
' CODE names), SQL (CALL p_target(payload)) or PYTHON (p_target, a function module:function, is '
'called with the task). p_target: the procedure or function; of BATCH and MODULE a Spark job, or '
''''': in the database. p_deliver_id: the group of workers that takes its tasks (WORKER). '
'p_timeout: a worker ends a run after this time; 0: never. p_max_attempts: how often a task is '
'tried (5). p_backoff: wait after the first failure (10 seconds), doubled after each further one. '
'p_backoff_limit: longest such wait (1 hour). p_later_after: wait after the outcome A (30 '
'seconds). p_max_running: how many of its tasks run at once at most; 0: no limit. '
'p_limit_criterion: the limit holds for each value of this criterion; '''': for the type. '
'p_on_failure: RETRY: a failed or lost attempt is tried again (the default); END: it ends the task '
'as DONE with outcome F, counts for the Module that the criterion CODE names, and the back-off of '
'that Module decides when the work is due again. Tasks '
'that wait or run move to their new lane. Errors: OM005: an argument is NULL; OM013: one is not '
'allowed; OM014: the isolation level is not read committed; OM070: the family is unknown; OM075: '
'it lacks the criterion; OM173: the old model has a table of that name. Locks: the family; when '
'lanes change, also its model, for which it waits for all who write its tasks, and the tasks that '
'move. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.register_task_type TO omd_admin;
