-- The member is locked FOR SHARE, so that it can't be declared dead before its claim commits. Where
-- an old snapshot is held, finished tasks stay in the index before those that wait. So after a full
-- claim the session remembers, in a setting, which lanes had due tasks and where each claim ended,
-- and begins the next one there; but from the start after a second, when omd_dispatch.due_again has
-- grown, and when too little is found.

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
    v_group text;
    v_place record;
    v_now timestamptz := clock_timestamp();
    v_left integer := p_limit;
    v_lane record;
    v_free integer;
    v_full text[] := '{}'::text[];
    v_shares boolean[];
    v_is_share boolean;
    v_marks integer := 1000;
    v_seen integer;
    v_row record;
    v_known jsonb;
    v_memory jsonb;
    v_lanes jsonb := '{}'::jsonb;
    v_due_again bigint;
    v_begins_at timestamptz;
BEGIN
    PERFORM omd.require_read_committed();
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
    v_group := omd_dispatch._hold_backend(p_backend_id);
    SELECT p.position, p.members INTO v_place
    FROM omd_dispatch.backend_position(v_group, p_backend_id) AS p;
    v_shares := CASE WHEN v_place.members > 1 THEN ARRAY[TRUE, FALSE] ELSE ARRAY[FALSE] END;
    PERFORM omd_dispatch._hold_model(f.family_code)
    FROM (
        SELECT DISTINCT t.family_code FROM omd_dispatch.task_conf_type_desc AS t
        WHERE t.deliver_id = v_group
    ) AS f;
    claim_token := nextval('omd_dispatch.claim_token');

    SELECT q.last_value INTO v_due_again FROM omd_dispatch.due_again AS q;
    v_memory := nullif(current_setting('omd_dispatch.claims', TRUE), '')::jsonb;
    IF v_memory ->> 'group' = v_group
        AND (v_memory ->> 'due_again')::bigint = v_due_again
        AND (v_memory ->> 'looked_at')::timestamptz > v_now - interval '1 second'
    THEN
        v_known := v_memory -> 'lanes';
    ELSE
        v_memory := jsonb_build_object(
            'group', v_group, 'due_again', v_due_again, 'looked_at', v_now
        );
    END IF;

    <<looks>>
    LOOP
        FOR v_lane IN
            SELECT
                f.family_code, d.lane, d.priority, d.execution_time,
                (
                    SELECT t.max_running FROM omd_dispatch.task_conf_type_desc AS t
                    WHERE t.family_code = f.family_code
                        AND t.task_type = split_part(d.lane, '/', 2)
                ) AS max_running,
                EXISTS (
                    SELECT FROM omd_dispatch.task_suspension AS s
                    WHERE s.family_code = f.family_code AND s.resumed_at IS NULL
                ) AS is_guarded
            FROM (
                SELECT DISTINCT t.family_code FROM omd_dispatch.task_conf_type_desc AS t
                WHERE t.deliver_id = v_group
            ) AS f
            CROSS JOIN LATERAL omd_dispatch._due_lanes(
                f.family_code, v_group, v_now, v_known
            ) AS d
            WINDOW lane AS (PARTITION BY f.family_code, d.lane ORDER BY d.priority)
            ORDER BY
                first_value(d.priority) OVER lane, first_value(d.execution_time) OVER lane,
                f.family_code, d.lane, d.priority
        LOOP
            v_begins_at := CASE
                WHEN v_known IS NULL THEN '-infinity'::timestamptz ELSE v_lane.execution_time
            END;
            v_lanes := v_lanes || jsonb_build_object(
                concat_ws(' ', v_lane.family_code, v_lane.priority, v_lane.lane),
                jsonb_build_object(
                    'family_code', v_lane.family_code,
                    'lane', v_lane.lane,
                    'priority', v_lane.priority,
                    'begins_at', v_lane.execution_time
                )
            );
            CONTINUE WHEN v_left = 0;
            CONTINUE WHEN v_lane.family_code || ' ' || v_lane.lane = ANY(v_full);
            v_free := v_left;
            IF v_lane.max_running IS NOT NULL THEN
                v_free := omd_dispatch._free_in_lane(
                    v_lane.family_code, v_lane.lane, v_lane.max_running
                );
                IF v_free <= 0 THEN
                    v_full := v_full || (v_lane.family_code || ' ' || v_lane.lane);
                    CONTINUE;
                END IF;
                v_free := least(v_free, v_left);
            END IF;
            family_code := v_lane.family_code;
            priority := v_lane.priority::integer;
            FOREACH v_is_share IN ARRAY v_shares LOOP
                LOOP
                    v_seen := 0;
                    FOR v_row IN
                        SELECT c.* FROM omd_dispatch._claim_lane(
                            v_lane.family_code, v_lane.lane, v_lane.priority,
                            CASE WHEN v_lane.is_guarded THEN least(v_free, v_marks) ELSE v_free END,
                            p_backend_id, claim_token, v_place.position,
                            CASE WHEN v_is_share THEN v_place.members ELSE 1 END, v_now,
                            v_begins_at, v_lane.is_guarded
                        ) AS c
                    LOOP
                        IF v_row.is_held THEN
                            v_seen := v_seen + 1;
                            v_marks := v_marks - 1;
                            CONTINUE;
                        END IF;
                        task_id := v_row.task_id;
                        task_type := v_row.task_type;
                        criteria := v_row.criteria;
                        payload := v_row.payload;
                        execution_time := v_row.execution_time;
                        attempt := v_row.attempt;
                        partition_code := v_row.partition_code;
                        RETURN NEXT;
                        v_free := v_free - 1;
                        v_left := v_left - 1;
                        IF v_left = 0 THEN
                            v_lanes := jsonb_set(
                                v_lanes,
                                ARRAY[
                                    concat_ws(' ', v_lane.family_code, v_lane.priority, v_lane.lane),
                                    'begins_at'
                                ],
                                to_jsonb(v_row.execution_time - interval '1 second')
                            );
                        END IF;
                    END LOOP;
                    -- Tasks that were only marked leave room for others.
                    EXIT WHEN v_seen = 0 OR v_free = 0 OR v_marks <= 0;
                END LOOP;
                EXIT WHEN v_free = 0;
            END LOOP;
            EXIT WHEN v_marks <= 0;
        END LOOP;
        EXIT looks WHEN v_left = 0 OR v_marks <= 0 OR v_known IS NULL;
        v_known := NULL;
        v_memory := v_memory || jsonb_build_object('looked_at', v_now);
    END LOOP looks;
    PERFORM set_config(
        'omd_dispatch.claims',
        CASE
            WHEN v_left > 0 THEN ''
            ELSE (
                v_memory || jsonb_build_object(
                    'lanes', (SELECT jsonb_agg(l.value) FROM jsonb_each(v_lanes) AS l)
                )
            )::text
        END,
        FALSE
    );
END
$claim_tasks$;

COMMENT ON FUNCTION omd_dispatch.claim_tasks IS
'Claims up to p_limit due tasks (1 to 1000) for the worker p_backend_id and returns them in the '
'order in which to start them; claim_token is the fence that complete_tasks asks for. Errors: '
'OM005: an argument is NULL; OM013: p_limit; OM014: the isolation level is not read committed; '
'OM172: the worker does not live. Locks: the member FOR SHARE; the tasks, passing over locked '
'ones; a limited lane, which is passed over while another claim holds it. May be NULL: payload.';
REVOKE ALL ON FUNCTION omd_dispatch.claim_tasks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch.claim_tasks TO omd_runner;
