-- With its first task the backend is locked FOR SHARE, so that it can't be declared dead before the
-- claim commits; a call that finds nothing writes nothing. Where an old snapshot is held, finished
-- tasks stay in the index before those that wait. So after a full claim the session remembers, in a
-- setting, which lanes had due tasks and where this claim began in each, and begins the next one
-- there; but from the start after a second, when omd_dispatch.due_again has grown, and when too
-- little is found. A new task is due now, unless somebody gave it another time. So it comes after
-- those of its lane, and only lanes that had none are looked for when tasks were created.
--
-- A family that somebody changes at this moment is passed over, or one change that is not committed
-- would stop the tasks of all families.

CREATE OR REPLACE FUNCTION omd_dispatch.claim_tasks(
    p_backend_id text,
    p_limit integer DEFAULT 1
)
RETURNS TABLE (
    task_id bigint,
    family_code text,
    task_type text,
    criteria jsonb,
    payload jsonb,
    execution_time timestamptz,
    priority integer,
    attempt integer,
    claim_token bigint,
    partition_code integer
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $claim_tasks$
DECLARE
    v_backend record;
    v_now timestamptz := clock_timestamp();
    v_left integer := p_limit;
    v_memory jsonb;
    v_known jsonb;
    v_has_new boolean := FALSE;
    v_lanes jsonb;
    v_lane record;
    v_free integer;
    v_full text;
    v_passed_over text[];
    v_shares integer[];
    v_share integer;
    v_token bigint;
    v_rows integer;
    v_before integer;
    v_marked integer := 0;
BEGIN
    -- The test here saves most claims a call.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM omd.require_read_committed();
    END IF;
    IF p_limit IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_limit'));
    ELSIF p_limit NOT BETWEEN 1 AND 1000 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_limit',
                'value', p_limit::text,
                'expected', 'from 1 to 1000'
            )
        );
    END IF;
    LOOP
        SELECT
            b.backend_type, p.position, p.members, q.last_value AS due_again,
            i.last_value AS newest,
            (SELECT r.is_unready FROM omd.unready_for_id() AS r) AS is_unready
        INTO v_backend
        FROM omd_dispatch.backend_registration AS b
        CROSS JOIN LATERAL omd_dispatch.backend_position(b.backend_type, b.backend_id) AS p
        CROSS JOIN omd_dispatch.due_again AS q
        CROSS JOIN omd_dispatch.task_id AS i
        WHERE b.backend_id = p_backend_id;
        EXIT WHEN FOUND;
        PERFORM omd_dispatch._hold_backend(p_backend_id); -- unless it was just renewed, an error
    END LOOP;
    IF v_backend.is_unready THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    -- Its own share first, then, if that is too little, as if it were alone.
    v_shares := CASE WHEN v_backend.members > 1 THEN ARRAY[v_backend.members, 1] ELSE ARRAY[1] END;
    v_passed_over := omd_dispatch._try_hold_models(v_backend.backend_type);

    v_memory := nullif(current_setting('omd_dispatch.claims', TRUE), '')::jsonb;
    IF v_memory ->> 'group' = v_backend.backend_type
        AND (v_memory ->> 'due_again')::bigint = v_backend.due_again
        AND (v_memory ->> 'looked_at')::timestamptz > v_now - interval '1 second'
    THEN
        v_known := v_memory -> 'lanes';
        v_has_new := (v_memory ->> 'newest')::bigint IS DISTINCT FROM v_backend.newest;
    ELSE
        v_memory := jsonb_build_object(
            'group', v_backend.backend_type, 'due_again', v_backend.due_again, 'looked_at', v_now
        );
    END IF;
    v_memory := v_memory || jsonb_build_object('newest', v_backend.newest);

    -- A function that returns rows has no other way to tell how many tasks it has only marked.
    v_marked := set_config('omd_dispatch.marked', '0', TRUE)::integer;
    LOOP
        v_lanes := '[]';
        FOR v_lane IN
            SELECT l.* FROM omd_dispatch._claimable_lanes(
                v_backend.backend_type, v_now, v_known, v_has_new, v_passed_over
            ) AS l
        LOOP
            v_lanes := v_lanes || jsonb_build_object(
                'family_code', v_lane.family_code,
                'lane', v_lane.lane,
                'priority', v_lane.priority,
                'begins_at', v_lane.execution_time
            );
            CONTINUE WHEN v_left = 0 OR v_lane.family_code || ' ' || v_lane.lane = v_full;
            v_free := v_left;
            IF v_lane.max_running IS NOT NULL THEN
                v_free := least(
                    v_left,
                    omd_dispatch._free_in_lane(
                        v_lane.family_code, v_lane.lane, v_lane.max_running
                    )
                );
            END IF;
            IF v_free <= 0 THEN
                v_full := v_lane.family_code || ' ' || v_lane.lane;
                CONTINUE;
            END IF;
            v_token := coalesce(v_token, nextval('omd_dispatch.claim_token'));
            FOREACH v_share IN ARRAY v_shares LOOP
                LOOP
                    v_before := v_marked;
                    RETURN QUERY
                    SELECT
                        c.task_id, v_lane.family_code, c.task_type, c.criteria, c.payload,
                        c.execution_time, v_lane.priority::integer, c.attempt, v_token,
                        c.partition_code
                    FROM omd_dispatch._claim_lane(
                        v_lane.family_code, v_lane.lane, v_lane.priority,
                        CASE
                            WHEN v_lane.is_guarded THEN least(v_free, 1000 - v_marked) ELSE v_free
                        END,
                        p_backend_id, v_token, v_backend.position, v_share, v_now,
                        v_lane.execution_time, v_lane.is_guarded
                    ) AS c
                    WHERE NOT c.is_held;
                    GET DIAGNOSTICS v_rows = ROW_COUNT;
                    IF v_rows > 0 AND v_left = p_limit THEN
                        v_backend.backend_type := omd_dispatch._hold_backend(p_backend_id);
                    END IF;
                    v_free := v_free - v_rows;
                    v_left := v_left - v_rows;
                    v_marked := current_setting('omd_dispatch.marked')::integer;
                    -- Tasks that were only marked leave room for others.
                    EXIT WHEN v_marked = v_before OR v_marked >= 1000 OR v_free = 0;
                END LOOP;
                EXIT WHEN v_free = 0;
            END LOOP;
            EXIT WHEN v_marked >= 1000;
        END LOOP;
        EXIT WHEN v_left = 0 OR v_marked >= 1000 OR v_known IS NULL;
        v_known := NULL;
        v_memory := v_memory || jsonb_build_object('looked_at', v_now);
    END LOOP;
    PERFORM set_config(
        'omd_dispatch.claims',
        CASE
            WHEN v_left > 0 THEN ''
            ELSE (v_memory || jsonb_build_object('lanes', v_lanes))::text
        END,
        FALSE
    );
END
$claim_tasks$;

COMMENT ON FUNCTION omd_dispatch.claim_tasks IS
'For programs: '
'Claims up to p_limit due tasks (1 to 1000) for the worker p_backend_id and returns them in the '
'order in which to start them; claim_token is the fence that complete_tasks asks for. Errors: '
'OM005: an argument is NULL; OM013: p_limit; OM014: the isolation level is not read committed; '
'OM172: the worker does not live. Locks: the backend FOR SHARE; the models of the families, '
'passing over one that is being changed; the tasks, passing over locked ones; a limited lane, '
'which is passed over while another claim holds it. May be NULL: payload.';
GRANT EXECUTE ON FUNCTION omd_dispatch.claim_tasks TO omd_runner;
