-- It does to many tasks what reschedule_task does to one. A task that has the time and the priority
-- already is not taken, so that the same call goes on where one has ended.

CREATE OR REPLACE PROCEDURE omd_dispatch.reschedule_tasks(
    p_filter jsonb,
    p_counted_at timestamptz,
    p_limit integer DEFAULT 10000,
    p_after_task_id bigint DEFAULT NULL,
    p_execution_time timestamptz DEFAULT NULL,
    p_priority integer DEFAULT NULL,
    INOUT p_changed bigint DEFAULT NULL,
    INOUT p_passed bigint DEFAULT NULL,
    INOUT p_last_task_id bigint DEFAULT NULL,
    INOUT p_more boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $reschedule_tasks$
DECLARE
    v_family_code text := p_filter ->> 'family_code';
    v_part record;
    v_picked bigint := 0::bigint;
    v_rows bigint;
    v_types text[];
    v_moved text[] := '{}'::text[];
BEGIN
    PERFORM omd_dispatch._require_task_arguments(NULL, p_execution_time, p_priority, NULL);
    IF num_nonnulls(p_execution_time, p_priority) = 0 THEN
        PERFORM omd.raise_error(
            'OM005', jsonb_build_object('argument', 'p_execution_time or p_priority')
        );
    END IF;
    p_changed := 0::bigint;
    p_last_task_id := p_after_task_id;
    FOR v_part IN
        SELECT p.partition_code, p.status, p.task_ids, m.last_id
        FROM omd_dispatch._pick_tasks(
            p_filter, p_counted_at, p_limit, p_after_task_id,
            format(
                '(t.status <> ''PENDING'' OR t.execution_time <> %L OR t.priority <> %L)',
                p_execution_time, p_priority
            )
        ) AS p
        CROSS JOIN LATERAL (SELECT max(i) AS last_id FROM unnest(p.task_ids) AS i) AS m
    LOOP
        v_picked := v_picked + cardinality(v_part.task_ids);
        p_last_task_id := greatest(p_last_task_id, v_part.last_id);
        CONTINUE WHEN v_part.status <> 'PENDING';
        EXECUTE format(
            'WITH moved AS (UPDATE %s AS t SET execution_time = coalesce($2, t.execution_time),'
            ' priority = coalesce($3, t.priority)'
            ' WHERE t.partition_code = %s AND t.task_id = ANY($1) RETURNING t.task_type)'
            ' SELECT count(*), array_agg(DISTINCT m.task_type) FROM moved AS m',
            omd_dispatch._data_table(v_family_code), v_part.partition_code
        )
        INTO v_rows, v_types
        USING v_part.task_ids, p_execution_time, p_priority::smallint;
        p_changed := p_changed + v_rows;
        v_moved := v_moved || v_types;
    END LOOP;
    PERFORM omd_dispatch._notify_due(v_family_code, m.task_type, p_execution_time)
    FROM (SELECT DISTINCT t AS task_type FROM unnest(v_moved) AS t) AS m;
    p_passed := v_picked - p_changed;
    p_more := v_picked = p_limit;
    PERFORM omd_dispatch._note_bulk(
        'RESCHEDULED', p_filter, p_changed, p_passed,
        concat(' to ' || p_execution_time, ' with priority ' || p_priority)
    );
END
$reschedule_tasks$;

COMMENT ON PROCEDURE omd_dispatch.reschedule_tasks IS
'Gives up to p_limit (1 to 1000000) pending tasks another time or priority, as reschedule_task '
'does: those that p_filter describes and p_counted_at lets pass, as count_tasks says, in the order '
'of their ids, but not those that have them already. p_after_task_id: only those after this one. '
'p_execution_time: when they are due; NULL keeps. p_priority: 0 to 9; NULL keeps. What others hold '
'it skips. Returns p_changed, how many it has changed; p_passed, how many it has left as they are: '
'they are not pending; p_last_task_id, the last task of both; p_more: there may be more. The same '
'call goes on with the rest, from p_last_task_id on without what was passed over. One event tells '
'of the call. Errors: OM005: an argument is NULL, or p_execution_time and p_priority both are; '
'OM013: an argument is not allowed; OM014: the isolation level is not read committed; OM070, OM071,'
' OM075, OM078, OM099, OM173, 42501: p_filter, as count_tasks says. Locks: the tasks. May be NULL: '
'p_last_task_id.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.reschedule_tasks TO omd_runner, omd_admin;
