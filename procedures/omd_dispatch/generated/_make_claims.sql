-- What creates, claims and ends tasks are the statements that run most, and each second some look
-- for claims and marks that nobody cares for any more. As text over the table of a family they
-- would be planned at each call, over all partitions, which takes longer than to execute them. So
-- each family has functions of its own, whose plans a session keeps. The settings of claims make
-- their plans right for tables of any size: indexes only, even when they were made while the tables
-- were empty or never analysed; = ANY(ARRAY[x]) instead of = x keeps the planner from reading a
-- whole index of an empty partition, which may be full when the plan is used. The families that
-- exist get a change of this text from sql/reference/omd_dispatch/codes.sql, at an upgrade.
--
-- A worker that has heard of a new task while it had nothing to do calls "take" itself: whatever
-- the server does then is done while the task waits.
--
-- In a claim, SKIP LOCKED makes it right whatever backends think of each other; the share of a
-- backend only keeps them out of each other's way. A run that goes on although its worker is gone
-- is waited for, and when it has succeeded the task is done: to begin it again would load it twice.

CREATE OR REPLACE PROCEDURE omd_dispatch._make_claims(
    p_family_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $make_claims$
DECLARE
    c_path CONSTANT text := ' SET search_path = pg_catalog, pg_temp';
    c_times CONSTANT text := ' SET datestyle = ''ISO, YMD'' SET timezone = ''UTC''';
    c_plans CONSTANT text := ' SET plan_cache_mode = force_generic_plan SET jit = off ';
    c_indexes_only CONSTANT text := 'SET enable_seqscan = off SET enable_bitmapscan = off'
        ' SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off';
    -- Only a claimed task has a token. Its status would offer the index of claimed tasks to the
    -- planner, which would read it once for each result.
    c_end CONSTANT text := $end$
        WITH result AS MATERIALIZED (
            SELECT DISTINCT ON (r.task_id, r.claim_token)
                r.task_id, r.claim_token, coalesce(p_backend_id, r.claimed_by) AS holder,
                r.outcome, r.error, r.error_code, r.is_given_up, v_partition AS partition_code
            FROM ROWS FROM (
                jsonb_to_recordset(p_results) AS (
                    task_id bigint, claim_token bigint, claimed_by text, outcome text,
                    error text, error_code text, is_given_up boolean
                )
            ) WITH ORDINALITY AS r (
                task_id, claim_token, claimed_by, outcome, error, error_code, is_given_up, n
            )
            ORDER BY r.task_id, r.claim_token, r.n
        ),
        ended AS (
            UPDATE <table> AS t SET
                (
                    status, outcome, error, attempt, execution_time, finished_at, pending_since,
                    batch_instance_id, module_instance_id
                ) = (
                    SELECT
                        j.status,
                        j.outcome,
                        CASE WHEN j.outcome IN ('F', 'A') THEN r.error END,
                        t.attempt - (j.outcome = 'A')::integer,
                        CASE
                            WHEN j.status <> 'PENDING' OR j.is_lost THEN t.execution_time
                            WHEN j.outcome = 'A' THEN clock_timestamp() + j.later_after
                            -- The backoff itself would overflow after many attempts.
                            WHEN extract(EPOCH FROM j.backoff)
                                * power(2, least(t.attempt - 1, 99))
                                < extract(EPOCH FROM j.backoff_limit)
                                THEN clock_timestamp()
                                    + j.backoff * power(2, least(t.attempt - 1, 99))
                            ELSE clock_timestamp() + j.backoff_limit
                        END,
                        CASE WHEN j.status <> 'PENDING' THEN clock_timestamp() END,
                        CASE WHEN j.status = 'PENDING' THEN clock_timestamp() END,
                        CASE
                            WHEN j.instance_type = 'BATCH' THEN j.instance_id
                            ELSE t.batch_instance_id
                        END,
                        CASE
                            WHEN j.instance_type = 'MODULE' THEN j.instance_id
                            ELSE t.module_instance_id
                        END
                    FROM (
                        SELECT
                            o.outcome, o.is_lost, i.instance_type, i.instance_id,
                            c.backoff, c.backoff_limit, c.later_after,
                            CASE
                                WHEN o.outcome IN ('S', 'C') THEN 'DONE'
                                WHEN t.cancel_requested THEN 'CANCELLED'
                                WHEN o.outcome = 'A' THEN 'PENDING'
                                WHEN c.on_failure = 'END' THEN 'DONE'
                                WHEN t.attempt >= c.max_attempts
                                    OR r.error_code ~ '^OM[02]'
                                    THEN 'DEAD'
                                ELSE 'PENDING'
                            END AS status
                        FROM omd_dispatch.task_conf_type_desc AS c
                        LEFT JOIN LATERAL omd.instance_of_task(
                            t.task_id, t.claim_token
                        ) AS i ON TRUE
                        CROSS JOIN LATERAL (
                            SELECT
                                CASE
                                    WHEN r.outcome IN ('S', 'F', 'A', 'C') THEN r.outcome
                                    WHEN i.execution_status_code <> 'E'
                                        THEN i.execution_status_code
                                    WHEN r.outcome IS NULL
                                        AND i.execution_status_code = 'E'
                                        THEN 'A'
                                    ELSE 'F'
                                END AS outcome,
                                r.outcome = 'LOST'
                                AND (
                                    r.is_given_up IS TRUE
                                    OR coalesce(i.execution_status_code = 'E', TRUE)
                                ) AS is_lost
                        ) AS o
                        WHERE c.family_code = <family> AND c.task_type = t.task_type
                    ) AS j
                ),
                claimed_by = NULL,
                claimed_at = NULL,
                claim_token = NULL,
                cancel_requested = FALSE
            FROM result AS r
            WHERE <here>
                AND t.task_id = ANY(ARRAY[r.task_id])
                AND t.claimed_by = r.holder
                AND t.claim_token = r.claim_token
            RETURNING
                t.task_id, t.task_type, t.status, t.attempt, t.error, t.key_hash,
                t.batch_instance_id, t.module_instance_id,
                CASE
                    WHEN t.status IN ('DONE', 'CANCELLED') AND (
                        t.outcome = 'F'
                        OR (
                            t.outcome = 'C'
                            AND coalesce(t.batch_instance_id, t.module_instance_id) IS NULL
                        )
                    )
                        THEN jsonb_build_object(
                            'task_id', t.task_id, 'claim_token', r.claim_token,
                            'task_type', t.task_type, 'code', CASE
                                WHEN t.status = 'DONE' THEN <criteria> ->> 'CODE'
                            END,
                            'outcome', t.outcome, 'error', r.error,
                            'error_code', CASE
                                WHEN r.outcome = 'LOST' THEN 'WORKER LOST' ELSE r.error_code
                            END
                        )
                END AS noted
        )
        SELECT
            array_agg(e.task_id),
            array_agg(e.task_id) FILTER (
                WHERE e.status <> 'PENDING' AND e.key_hash IS NOT NULL
            ),
            jsonb_agg(to_jsonb(e) - 'key_hash') FILTER (WHERE e.status = 'DEAD'),
            jsonb_agg(e.noted) FILTER (WHERE e.noted IS NOT NULL)
        INTO v_ended, v_over, v_dead, v_noted
        FROM ended AS e
    $end$;
    c_lost CONSTANT text := $lost$
        SELECT
            jsonb_agg(
                jsonb_build_object(
                    'task_id', c.task_id,
                    'claim_token', c.claim_token,
                    'claimed_by', c.claimed_by,
                    'outcome', 'LOST',
                    'error', format('its worker %s is gone', c.claimed_by)
                )
            )
        INTO v_lost
        FROM (
            SELECT t.task_id, t.claim_token, t.claimed_by FROM <table> AS t
            WHERE t.status = 'CLAIMED' AND <whose>
        ) AS c;
    $lost$;
    v_has_times boolean := EXISTS (
        SELECT FROM omd_dispatch.task_conf_family_model AS m
        WHERE m.family_code = p_family_code AND m.data_type IN ('date', 'timestamptz')
    );
    v_routine record;
BEGIN
    FOR v_routine IN
        SELECT
            omd_dispatch._claim_routine(p_family_code, r.name, m.is_new) AS name,
            r.arguments,
            r.answer,
            r.volatility,
            r.settings,
            r.words,
            r.name = 'create' AS is_part_of_caller,
            replace(
                replace(
                    replace(
                        replace(
                            replace(
                                replace(
                                    r.body, '<lock>',
                                    quote_ident('task_model_' || lower(p_family_code))
                                ),
                                '<table>', omd_dispatch._model_table(p_family_code, m.is_new)
                            ),
                            '<criteria>', omd_dispatch._criteria_sql(p_family_code, m.is_new)
                        ),
                        '<partition>', CASE WHEN m.is_new THEN 't.partition_code' ELSE '0' END
                    ),
                    '<part>', CASE WHEN m.is_new THEN 'partition_code' ELSE 'task_type' END
                ),
                '<family>', quote_literal(p_family_code)
            ) AS body
        FROM (
            VALUES
            (
                'due',
                'p_group text, p_now timestamptz, p_known jsonb',
                'TABLE (lane text, priority smallint, execution_time timestamptz)',
                'STABLE',
                c_indexes_only,
                'lanes and priorities with due tasks, as _due_lanes says',
                $due$
                BEGIN
                    IF p_known IS NOT NULL THEN
                        RETURN QUERY
                        SELECT k.lane, k.priority, d.execution_time
                        FROM jsonb_to_recordset(p_known) AS k (
                            family_code text, lane text, priority smallint, begins_at timestamptz
                        )
                        CROSS JOIN LATERAL (
                            SELECT t.execution_time FROM <table> AS t
                            WHERE t.status = 'PENDING'
                                AND t.suspension_id IS NULL
                                AND t.lane = k.lane COLLATE "C"
                                AND t.priority = k.priority
                                AND t.execution_time >= k.begins_at
                                AND t.execution_time <= p_now
                            ORDER BY t.execution_time
                            LIMIT 1
                        ) AS d
                        WHERE k.family_code = <family>;
                        RETURN;
                    END IF;
                    RETURN QUERY
                    WITH RECURSIVE lanes AS (
                        SELECT
                            p_group COLLATE "C" AS lane,
                            (-1)::smallint AS priority,
                            'infinity'::timestamptz AS execution_time
                        UNION ALL
                        SELECT n.lane, n.priority, n.execution_time
                        FROM lanes AS l
                        CROSS JOIN LATERAL (
                            SELECT t.lane, t.priority, t.execution_time FROM <table> AS t
                            WHERE t.status = 'PENDING'
                                AND t.suspension_id IS NULL
                                AND (t.lane, t.priority) > (l.lane, l.priority)
                                AND t.lane < (p_group || '0') COLLATE "C"
                            ORDER BY t.lane, t.priority, t.execution_time
                            LIMIT 1
                        ) AS n
                    )
                    SELECT l.lane, l.priority, l.execution_time
                    FROM lanes AS l
                    WHERE l.execution_time <= p_now
                        AND (l.lane = p_group COLLATE "C" OR l.lane > (p_group || '/') COLLATE "C");
                END
                $due$
            ),
            (
                'other',
                'p_group text, p_now timestamptz, p_known jsonb',
                'TABLE (lane text, priority smallint, execution_time timestamptz)',
                'STABLE',
                c_indexes_only,
                'lanes and priorities with due tasks that are not in p_known, as _other_lanes says',
                $other$
                BEGIN
                    -- Each gap between two known ones is read by itself, so that nothing of those
                    -- is passed over again.
                    RETURN QUERY
                    WITH RECURSIVE bound AS (
                        SELECT p_group COLLATE "C" AS lane, (-1)::smallint AS priority
                        UNION ALL
                        SELECT k.lane COLLATE "C", k.priority
                        FROM jsonb_to_recordset(p_known) AS k (
                            family_code text, lane text, priority smallint
                        )
                        WHERE k.family_code = <family>
                    ),
                    lanes AS (
                        SELECT
                            b.lane,
                            b.priority,
                            'infinity'::timestamptz AS execution_time,
                            lead(b.lane, 1, (p_group || '0') COLLATE "C") OVER (
                                ORDER BY b.lane, b.priority
                            ) AS next_lane,
                            lead(b.priority, 1, (-1)::smallint) OVER (
                                ORDER BY b.lane, b.priority
                            ) AS next_priority
                        FROM bound AS b
                        UNION ALL
                        SELECT n.lane, n.priority, n.execution_time, l.next_lane, l.next_priority
                        FROM lanes AS l
                        CROSS JOIN LATERAL (
                            SELECT t.lane, t.priority, t.execution_time FROM <table> AS t
                            WHERE t.status = 'PENDING'
                                AND t.suspension_id IS NULL
                                AND (t.lane, t.priority) > (l.lane, l.priority)
                                AND (t.lane, t.priority) < (l.next_lane, l.next_priority)
                            ORDER BY t.lane, t.priority, t.execution_time
                            LIMIT 1
                        ) AS n
                    )
                    SELECT l.lane, l.priority, l.execution_time
                    FROM lanes AS l
                    WHERE l.execution_time <= p_now
                        AND (l.lane = p_group COLLATE "C" OR l.lane > (p_group || '/') COLLATE "C");
                END
                $other$
            ),
            (
                'claim',
                'p_lane text, p_priority smallint, p_limit integer, p_backend_id text,'
                ' p_claim_token bigint, p_position integer, p_members integer, p_now timestamptz,'
                ' p_begins_at timestamptz, p_is_guarded boolean',
                'TABLE (task_id bigint, task_type text, criteria jsonb, payload jsonb,'
                ' execution_time timestamptz, attempt integer, partition_code integer,'
                ' is_held boolean)',
                'VOLATILE',
                c_indexes_only,
                'up to p_limit tasks that it has claimed, as _claim_lane says',
                $claim$
                #variable_conflict use_column
                DECLARE
                    v_part <table>.<part>%TYPE;
                    v_free bigint[];
                    v_held jsonb;
                BEGIN
                    FOR v_part, v_free, v_held IN
                        WITH picked AS MATERIALIZED (
                            SELECT
                                t.<part> AS part,
                                t.task_id,
                                CASE
                                    WHEN p_is_guarded THEN omd_dispatch._matching_suspension(
                                        <family>, t.task_type, <criteria>
                                    )
                                END AS suspension_id,
                                -- The run of a worker that was lost may go on without it.
                                CASE
                                    WHEN t.batch_instance_id IS NOT NULL
                                        OR t.module_instance_id IS NOT NULL
                                        THEN (
                                            SELECT o.outcome FROM omd.instance_outcome(
                                                t.batch_instance_id, t.module_instance_id
                                            ) AS o (outcome)
                                            WHERE o.outcome IN ('E', 'S')
                                        )
                                END AS earlier
                            FROM <table> AS t
                            WHERE t.status = 'PENDING'
                                AND t.suspension_id IS NULL
                                AND t.lane = p_lane COLLATE "C"
                                AND t.priority = p_priority
                                AND t.execution_time <= p_now
                                AND t.execution_time >= p_begins_at
                                AND (
                                    p_members = 1
                                    OR t.task_id % p_members = p_position
                                    OR t.execution_time < p_now - interval '5 seconds'
                                )
                            ORDER BY t.execution_time, t.task_id
                            LIMIT p_limit
                            FOR UPDATE SKIP LOCKED
                        )
                        SELECT
                            p.part,
                            array_agg(p.task_id) FILTER (
                                WHERE p.suspension_id IS NULL AND p.earlier IS NULL
                            ),
                            jsonb_agg(p) FILTER (
                                WHERE p.suspension_id IS NOT NULL OR p.earlier IS NOT NULL
                            )
                        FROM picked AS p
                        GROUP BY p.part
                    LOOP
                        RETURN QUERY
                        UPDATE <table> AS t SET
                            status = 'CLAIMED',
                            attempt = t.attempt + 1,
                            finished_at = NULL,
                            claimed_by = p_backend_id,
                            claimed_at = p_now,
                            claim_token = p_claim_token
                        WHERE t.<part> = v_part AND t.task_id = ANY(v_free)
                        RETURNING
                            t.task_id, t.task_type, <criteria>, t.payload, t.execution_time,
                            t.attempt, <partition>, FALSE;
                        CONTINUE WHEN v_held IS NULL;
                        RETURN QUERY
                        WITH held AS (
                            UPDATE <table> AS t SET
                                status = CASE
                                    WHEN h.suspension_id IS NULL AND h.earlier = 'S' THEN 'DONE'
                                    ELSE 'PENDING'
                                END,
                                suspension_id = h.suspension_id,
                                execution_time = CASE
                                    WHEN h.suspension_id IS NULL AND h.earlier = 'E'
                                        THEN p_now + interval '1 second'
                                    ELSE t.execution_time
                                END,
                                outcome = CASE
                                    WHEN h.suspension_id IS NULL AND h.earlier = 'S' THEN 'S'
                                    ELSE t.outcome
                                END,
                                finished_at = CASE
                                    WHEN h.suspension_id IS NULL AND h.earlier = 'S' THEN p_now
                                END
                            FROM jsonb_to_recordset(v_held) AS h (
                                task_id bigint, suspension_id bigint, earlier text
                            )
                            WHERE t.<part> = v_part AND t.task_id = ANY(ARRAY[h.task_id])
                            RETURNING t.task_id, t.status
                        ),
                        freed AS (
                            DELETE FROM omd_dispatch.mutex AS m
                            WHERE m.task_id = ANY(
                                ARRAY(SELECT h.task_id FROM held AS h WHERE h.status = 'DONE')
                            )
                        )
                        SELECT
                            h.task_id, NULL::text, NULL::jsonb, NULL::jsonb, p_now, 0, 0, TRUE
                        FROM held AS h;
                        PERFORM set_config(
                            'omd_dispatch.marked',
                            (
                                coalesce(
                                    nullif(current_setting('omd_dispatch.marked', TRUE), ''), '0'
                                )::integer
                                + jsonb_array_length(v_held)
                            )::text,
                            TRUE
                        );
                    END LOOP;
                END
                $claim$
            ),
            (
                'take',
                'p_backend_id text, p_partition_code integer, p_task_id bigint',
                'TABLE (task_id bigint, family_code text, task_type text, criteria jsonb,'
                ' payload jsonb, execution_time timestamptz, attempt integer, claim_token bigint,'
                ' partition_code integer, types_version bigint)',
                'VOLATILE',
                c_indexes_only,
                'the new task p_task_id, which the worker p_backend_id has claimed if it is due in'
                ' the lane of its group and nothing has become of it, with the version of'
                ' task_conf_type_desc',
                $take$
                #variable_conflict use_column
                BEGIN
                    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
                        PERFORM omd.get_ready_for_id();
                    END IF;
                    PERFORM omd.require_read_committed();
                    -- As _hold_model does.
                    LOCK TABLE omd_dispatch.<lock> IN ROW SHARE MODE;
                    RETURN QUERY
                    UPDATE <table> AS t SET
                        status = 'CLAIMED',
                        attempt = 1,
                        claimed_by = p_backend_id,
                        claimed_at = clock_timestamp(),
                        claim_token = nextval('omd_dispatch.claim_token')
                    WHERE t.partition_code = p_partition_code AND t.task_id = (
                        SELECT n.task_id FROM <table> AS n
                        WHERE n.partition_code = p_partition_code
                            AND n.task_id = p_task_id
                            AND n.status = 'PENDING'
                            -- Not so that the index of claims would be taken.
                            AND coalesce(n.suspension_id, 0) = 0
                            AND n.attempt = 0
                            AND n.batch_instance_id IS NULL
                            AND n.module_instance_id IS NULL
                            AND n.execution_time <= clock_timestamp()
                            -- The backend does not die before the claim commits. Who finds
                            -- nothing does not lock it: the conditions above come first.
                            AND n.lane = (
                                SELECT b.backend_type COLLATE "C"
                                FROM omd_dispatch.backend_registration AS b
                                WHERE b.backend_id = p_backend_id
                                    AND omd_dispatch._lives(
                                        b.registration_time, b.ttl, clock_timestamp()
                                    )
                                FOR SHARE
                            )
                            AND EXISTS (
                                SELECT FROM omd_dispatch.task_migration_status AS m
                                WHERE m.family_code = <family> AND m.migration_status >= 3
                            )
                            AND NOT EXISTS (
                                SELECT FROM omd_dispatch.task_suspension AS s
                                WHERE s.family_code = <family> AND s.resumed_at IS NULL
                            )
                        FOR UPDATE SKIP LOCKED
                    )
                    RETURNING
                        t.task_id, <family>, t.task_type, <criteria>, t.payload, t.execution_time,
                        t.attempt, t.claim_token, t.partition_code,
                        (
                            SELECT v.version FROM omd_dispatch.cache_version AS v
                            WHERE v.part = 'task_conf_type_desc'
                        );
                END
                $take$
            ),
            (
                'done',
                'p_backend_id text, p_partition_code integer, p_claim_token bigint,'
                ' p_task_ids bigint[]',
                'bigint[]',
                'VOLATILE',
                c_indexes_only,
                'the tasks that it has ended, as _end_done says',
                $done$
                DECLARE
                    v_ended bigint[];
                    v_over bigint[];
                BEGIN
                    WITH ended AS (
                        UPDATE <table> AS t SET
                            status = 'DONE',
                            outcome = 'S',
                            error = NULL,
                            finished_at = clock_timestamp(),
                            claimed_by = NULL,
                            claimed_at = NULL,
                            claim_token = NULL,
                            cancel_requested = FALSE
                        WHERE <partition> = p_partition_code
                            AND t.task_id = ANY(p_task_ids)
                            AND t.claimed_by = p_backend_id
                            AND t.claim_token = p_claim_token
                        RETURNING t.task_id, t.key_hash
                    )
                    SELECT
                        array_agg(e.task_id),
                        array_agg(e.task_id) FILTER (WHERE e.key_hash IS NOT NULL)
                    INTO v_ended, v_over
                    FROM ended AS e;
                    IF v_over IS NOT NULL THEN
                        DELETE FROM omd_dispatch.mutex AS m WHERE m.task_id = ANY(v_over);
                    END IF;
                    RETURN v_ended;
                END
                $done$
            ),
            (
                'end',
                'p_backend_id text, p_results jsonb',
                'bigint[]',
                'VOLATILE',
                c_indexes_only,
                'the tasks whose claim it has ended, as _end_claims says',
                $sql$
                DECLARE
                    v_partition integer;
                    v_all bigint[] := '{}'::bigint[];
                    v_ended bigint[];
                    v_over bigint[];
                    v_dead jsonb;
                    v_noted jsonb;
                BEGIN
                    -- Most often all are in the partition of the first one, and the others are not
                    -- read.
                    SELECT <partition> INTO v_partition
                    FROM <table> AS t
                    WHERE t.task_id = ANY(ARRAY[(p_results -> 0 ->> 'task_id')::bigint]);
                    FOR v_pass IN CASE WHEN v_partition IS NULL THEN 2 ELSE 1 END..2 LOOP
                        IF v_pass = 1 THEN
                $sql$
                || replace(c_end, '<here>', '<partition> = r.partition_code')
                || '; ELSE '
                || replace(c_end, '<here>', 'TRUE')
                || $sql$;
                        END IF;
                        IF v_over IS NOT NULL THEN
                            DELETE FROM omd_dispatch.mutex AS m WHERE m.task_id = ANY(v_over);
                        END IF;
                        IF v_dead IS NOT NULL THEN
                            PERFORM omd_dispatch._tell_dead(<family>, v_dead);
                        END IF;
                        IF v_noted IS NOT NULL THEN
                            PERFORM omd_dispatch._note_ends(<family>, v_noted);
                        END IF;
                        v_all := v_all || v_ended;
                        EXIT WHEN cardinality(v_all) = jsonb_array_length(p_results);
                    END LOOP;
                    RETURN v_all;
                END
                $sql$
            ),
            (
                'lost',
                'p_backend_id text, p_limit bigint',
                'jsonb',
                'VOLATILE',
                c_indexes_only,
                'the claims that _settle_claims is to settle',
                'DECLARE v_lost jsonb; BEGIN IF p_backend_id IS NULL THEN'
                || replace(
                    c_lost, '<whose>', $dead$
                    NOT EXISTS (
                        SELECT FROM omd_dispatch.backend_registration AS b
                        WHERE b.backend_id = t.claimed_by AND b.first_token < t.claim_token
                    )
                    LIMIT p_limit
                    FOR UPDATE SKIP LOCKED
                    $dead$
                )
                || 'ELSE'
                || replace(c_lost, '<whose>', 't.claimed_by = p_backend_id LIMIT p_limit')
                || $lost$
                    END IF;
                    IF v_lost IS NOT NULL THEN
                        PERFORM nextval('omd_dispatch.due_again');
                    END IF;
                    RETURN v_lost;
                END
                $lost$
            ),
            (
                'stray',
                '',
                'bigint',
                'STABLE',
                c_indexes_only,
                'a suspension that has gone and still marks tasks',
                $stray$
                BEGIN
                    RETURN (
                        WITH RECURSIVE marks AS (
                            SELECT min(t.suspension_id) AS id
                            FROM <table> AS t
                            WHERE t.suspension_id IS NOT NULL
                            UNION ALL
                            SELECT (
                                SELECT min(t.suspension_id) FROM <table> AS t
                                WHERE t.suspension_id > m.id
                            )
                            FROM marks AS m
                            WHERE m.id IS NOT NULL
                        )
                        SELECT m.id FROM marks AS m
                        WHERE m.id IS NOT NULL AND NOT EXISTS (
                            SELECT FROM omd_dispatch.task_suspension AS s
                            WHERE s.suspension_id = m.id
                        )
                        LIMIT 1
                    );
                END
                $stray$
            ),
            (
                'insert',
                'p_tasks jsonb, p_names jsonb, p_left integer[],'
                ' p_type omd_dispatch.task_conf_type_desc, p_key_criteria text[],'
                ' p_partition_code integer, p_schedule_code text, p_is_guarded boolean',
                'omd_dispatch.created_task[]',
                'VOLATILE',
                '',
                'what has become of the tasks that it has created, as _create_sql says',
                '#variable_conflict use_column' || chr(10)
                || 'DECLARE v_created omd_dispatch.created_task[]; BEGIN'
                || omd_dispatch._create_sql(p_family_code)
                || 'INTO v_created; RETURN v_created; END'
            ),
            (
                'create',
                'p_task_type text, p_criteria jsonb, p_payload jsonb, p_execution_time timestamptz,'
                ' p_priority integer, p_on_duplicate text',
                'bigint',
                'VOLATILE',
                '',
                'the number of the task that it has created, as _create_one_sql says',
                omd_dispatch._create_one_sql(p_family_code)
            )
        ) AS r (name, arguments, answer, volatility, settings, words, body)
        CROSS JOIN (VALUES (TRUE), (FALSE)) AS m (is_new)
        WHERE to_regclass(omd_dispatch._model_table(p_family_code, m.is_new)) IS NOT NULL
            AND (m.is_new OR r.name NOT IN ('insert', 'take', 'create'))
    LOOP
        EXECUTE format(
            $sql$
            CREATE OR REPLACE FUNCTION omd_dispatch.%1$I(%2$s)
            RETURNS %3$s
            LANGUAGE plpgsql
            %6$s
            PARALLEL UNSAFE
            %7$s
            AS %4$L;
            COMMENT ON FUNCTION omd_dispatch.%1$I IS %5$L;
            REVOKE ALL ON FUNCTION omd_dispatch.%1$I FROM PUBLIC
            $sql$,
            v_routine.name,
            v_routine.arguments,
            v_routine.answer,
            v_routine.body,
            format('Of the family %s: returns %s.', p_family_code, v_routine.words),
            v_routine.volatility,
            CASE
                WHEN v_routine.is_part_of_caller
                    THEN c_path || CASE WHEN v_has_times THEN c_times ELSE '' END
                ELSE ' SECURITY DEFINER' || c_path || c_times || c_plans || v_routine.settings
            END
        );
    END LOOP;
    CALL omd_dispatch._set_rights(p_family_code);
END
$make_claims$;

COMMENT ON PROCEDURE omd_dispatch._make_claims IS
'Makes the functions of p_family_code that find, claim and end its tasks, in each model that it '
'has, and those for new tasks in the new one, or makes them again. Locks: none.';
