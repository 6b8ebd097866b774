-- It does to many tasks what cancel_task does to one.

CREATE OR REPLACE PROCEDURE omd_dispatch.cancel_tasks(
    p_filter jsonb,
    p_counted_at timestamptz,
    p_limit integer DEFAULT 10000,
    p_after_task_id bigint DEFAULT NULL,
    p_running boolean DEFAULT FALSE,
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
AS $cancel_tasks$
DECLARE
    v_part record;
    v_picked bigint := 0::bigint;
    v_rows bigint;
BEGIN
    p_changed := 0::bigint;
    p_last_task_id := p_after_task_id;
    FOR v_part IN
        SELECT p.partition_code, p.status, p.task_ids, m.last_id
        FROM omd_dispatch._pick_tasks(p_filter, p_counted_at, p_limit, p_after_task_id) AS p
        CROSS JOIN LATERAL (SELECT max(i) AS last_id FROM unnest(p.task_ids) AS i) AS m
    LOOP
        v_picked := v_picked + cardinality(v_part.task_ids);
        p_last_task_id := greatest(p_last_task_id, v_part.last_id);
        CONTINUE WHEN v_part.status = 'DEAD'
            OR (v_part.status = 'CLAIMED' AND p_running IS NOT TRUE);
        EXECUTE format(
            'UPDATE %s AS t SET %s WHERE t.partition_code = %s AND t.task_id = ANY($1)',
            omd_dispatch._data_table(p_filter ->> 'family_code'),
            CASE v_part.status
                WHEN 'CLAIMED' THEN 'cancel_requested = TRUE'
                ELSE
                    'status = ''CANCELLED'', suspension_id = NULL, finished_at = clock_timestamp()'
            END,
            v_part.partition_code
        ) USING v_part.task_ids;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        p_changed := p_changed + v_rows;
        DELETE FROM omd_dispatch.mutex AS m
        WHERE m.task_id = ANY(v_part.task_ids) AND v_part.status = 'PENDING';
    END LOOP;
    p_passed := v_picked - p_changed;
    p_more := v_picked = p_limit;
    PERFORM omd_dispatch._note_bulk('CANCELLED', p_filter, p_changed, p_passed);
END
$cancel_tasks$;

COMMENT ON PROCEDURE omd_dispatch.cancel_tasks IS
'Cancels up to p_limit (1 to 1000000) pending tasks, as cancel_task does: those that p_filter '
'describes and p_counted_at lets pass, as count_tasks says, in the order of their ids. '
'p_after_task_id: only those after this one. p_running: also those that run: their workers are '
'asked to end them. What others hold it skips. Returns p_changed, how many it has cancelled; '
'p_passed, how many it has left as they are: they are dead, or run; p_last_task_id, the last task '
'of both; p_more: there may be more. The same filter goes on with the rest, from p_last_task_id on '
'without what was passed over. One event tells of the call. Errors: OM005: an argument is NULL; '
'OM013: an argument is not allowed; OM014: the isolation level is not read committed; OM070, '
'OM071, OM075, OM078, OM099, OM173, 42501: p_filter, as count_tasks says. Locks: the tasks and '
'their keys. May be NULL: p_last_task_id.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.cancel_tasks TO omd_runner, omd_admin;
