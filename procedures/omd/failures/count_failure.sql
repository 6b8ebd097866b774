-- This is the one place where a failure is counted, in the commit of the failure. A run counts
-- once, whoever reports it. A run that was ended by hand says nothing about the next one. The first
-- death in a row has no pause, since a worker that dies says little about what it ran, and another
-- one goes on at once. The state is locked last, after the instance.

CREATE OR REPLACE FUNCTION omd.count_failure(
    p_module_id integer,
    p_module_instance_id bigint,
    p_detail text,
    p_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $count_failure$
DECLARE
    v_module record;
    v_now CONSTANT timestamptz := clock_timestamp();
    v_is_death CONSTANT boolean := coalesce(p_code IN ('GIVEN UP', 'WORKER LOST'), FALSE);
    v_problem CONSTANT text := left(
        split_part(
            coalesce(omd.shown_failure(p_code, nullif(p_detail, ''), p_module_id), 'it failed'),
            chr(10),
            1
        ),
        1000
    );
BEGIN
    IF p_code IN ('ENDED', 'RELEASED') THEN
        RETURN;
    END IF;
    SELECT m.backoff, m.backoff_limit, m.platform_code INTO v_module
    FROM omd.module AS m
    WHERE m.module_id = p_module_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- It is dead only as far as anybody knows. What rooms undo, only their fenced writers write.
    IF v_is_death
        AND p_module_instance_id IS NOT NULL
        AND v_module.platform_code = 'POSTGRES'
        AND NOT EXISTS (SELECT FROM omd._undo_routines(p_module_id))
    THEN
        INSERT INTO omd.dead_run (module_id, module_instance_id)
        VALUES (p_module_id, p_module_instance_id)
        ON CONFLICT DO NOTHING;
    END IF;
    INSERT INTO omd.module_state AS s (
        module_id, failures, looks, not_before, failed_since, last_problem, last_code,
        last_module_instance_id, last_claim_token, last_text
    )
    VALUES (
        p_module_id,
        1,
        0,
        CASE
            WHEN NOT v_is_death
                THEN v_now + omd._pause_after(v_module.backoff, v_module.backoff_limit, 1)
        END,
        v_now,
        v_problem,
        p_code,
        p_module_instance_id,
        omd._claim_of_session(),
        nullif(p_detail, '')
    )
    ON CONFLICT (module_id) DO UPDATE SET
        failures = s.failures + 1,
        looks = 0,
        not_before = CASE
            WHEN NOT v_is_death OR s.last_code IN ('GIVEN UP', 'WORKER LOST')
                THEN
                    v_now + omd._pause_after(
                        v_module.backoff, v_module.backoff_limit, s.failures + 1
                    )
        END,
        failed_since = coalesce(s.failed_since, v_now),
        last_problem = excluded.last_problem,
        last_code = excluded.last_code,
        last_module_instance_id = excluded.last_module_instance_id,
        last_claim_token = excluded.last_claim_token,
        last_text = excluded.last_text,
        looked_datetime = NULL
    WHERE p_module_instance_id IS NULL
        OR s.last_module_instance_id IS DISTINCT FROM p_module_instance_id;
END
$count_failure$;

COMMENT ON FUNCTION omd.count_failure IS
'For rooms: Counts a failure of the Module p_module_id and sets how long its work waits. '
'p_module_instance_id: the run that failed, which counts once; NULL: it failed before it had one. '
'p_detail: the text of the error, kept whole for who has omd_data_reader, and as a line without '
'values of rows. p_code: its code; GIVEN UP and WORKER LOST for a run that was declared dead, for '
'whose rows later begins look; '
'ENDED and RELEASED, a run that was ended by hand, do not count. Locks: the state of the Module.';
