-- Who waits for a lock has all others wait behind him, so this one waits in short turns: a call
-- that writes tasks is delayed by 50 ms, however long the transaction lasts that is in the way. Two
-- changes come one after the other (SHARE UPDATE EXCLUSIVE is in nobody else's way). Turns are too
-- short for the deadlock check of the server. So a transaction that holds the model itself, having
-- written tasks of the family, waits as usual: two of them would wait for each other for ever.

CREATE OR REPLACE FUNCTION omd_dispatch._change_model(
    p_family_code text,
    p_lock_timeout text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $change_model$
DECLARE
    v_lock regclass := format(
        'omd_dispatch.%I', 'task_model_' || lower(p_family_code)
    )::regclass;
    v_patience interval := nullif(p_lock_timeout::interval, interval '0');
    v_since timestamptz := clock_timestamp();
    v_is_held boolean := EXISTS (
        SELECT FROM pg_locks AS l
        WHERE l.locktype = 'relation' AND l.pid = pg_backend_pid() AND l.relation = v_lock
    );
BEGIN
    EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', v_lock);
    IF v_is_held THEN
        EXECUTE format('LOCK TABLE %s IN EXCLUSIVE MODE', v_lock);
        RETURN;
    END IF;
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '50ms', TRUE);
            EXECUTE format('LOCK TABLE %s IN EXCLUSIVE MODE', v_lock);
            EXIT;
        EXCEPTION
            WHEN lock_not_available THEN
                IF clock_timestamp() - v_since > v_patience THEN
                    RAISE;
                END IF;
        END;
        PERFORM pg_sleep(0.05 + random() * 0.1);
    END LOOP;
    PERFORM set_config('lock_timeout', p_lock_timeout, TRUE);
END
$change_model$;

COMMENT ON FUNCTION omd_dispatch._change_model IS
'Lets the caller change the model of p_family_code until the end of the transaction, alone: it '
'waits for all who write its tasks, for as long as the setting lock_timeout lets it, which is '
'p_lock_timeout. Errors: 55P03. Locks: the model of the family.';
