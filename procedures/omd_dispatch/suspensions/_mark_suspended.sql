-- It looks at tasks in the order in which they are claimed, and goes on where it has stopped, so
-- that a part costs the same however many tasks wait, and however few of them are held. What is
-- locked at this moment is passed over, since the guard of the claim holds it as well; then all are
-- looked at once more.

CREATE OR REPLACE FUNCTION omd_dispatch._mark_suspended(
    p_suspension_id bigint,
    p_limit integer
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $mark_suspended$
DECLARE
    v_suspension omd_dispatch.task_suspension;
    v_is_end boolean;
    v_is_passed_over boolean;
    v_marked bigint;
    v_lane text;
    v_priority smallint;
    v_time timestamptz;
    v_task_id bigint;
BEGIN
    SELECT s.* INTO v_suspension
    FROM omd_dispatch.task_suspension AS s
    WHERE s.suspension_id = p_suspension_id;
    PERFORM omd_dispatch._hold_model(v_suspension.family_code);
    LOOP
        BEGIN
            EXECUTE format(
                $sql$
                WITH looked AS MATERIALIZED (
                    SELECT
                        t.task_id,
                        %3$s AS partition_code,
                        t.lane,
                        t.priority,
                        t.execution_time,
                        EXISTS (
                            SELECT FROM omd_dispatch._suspension_holds($1, t.task_type, %2$s)
                        ) AS is_held
                    FROM %1$s AS t
                    WHERE t.status = 'PENDING' AND t.suspension_id IS NULL %4$s
                    ORDER BY t.lane, t.priority, t.execution_time, t.task_id
                    LIMIT $2
                ),

                held AS MATERIALIZED (
                    SELECT r.task_id, r.partition_code
                    FROM looked AS l
                    -- As a join it would read the whole table, expecting hardly a row of it.
                    CROSS JOIN LATERAL (
                        SELECT t.task_id, %3$s AS partition_code
                        FROM %1$s AS t
                        WHERE t.task_id = l.task_id
                            AND %3$s = l.partition_code
                            AND t.status = 'PENDING'
                            -- Not so that the index of claims would be taken.
                            AND coalesce(t.suspension_id, 0) = 0
                        FOR UPDATE SKIP LOCKED
                    ) AS r
                    WHERE l.is_held
                ),

                marked AS (
                    UPDATE %1$s AS t SET suspension_id = $1
                    FROM held AS h
                    WHERE t.task_id = h.task_id AND %3$s = h.partition_code
                    RETURNING t.task_id
                )

                SELECT
                    c.tasks < $2 AS is_end,
                    c.held > m.tasks AS is_passed_over,
                    m.tasks AS marked,
                    o.lane, o.priority, o.execution_time, o.task_id
                FROM (
                    SELECT count(*) AS tasks, count(*) FILTER (WHERE l.is_held) AS held
                    FROM looked AS l
                ) AS c
                CROSS JOIN (SELECT count(*) AS tasks FROM marked) AS m
                LEFT JOIN (
                    SELECT l.lane, l.priority, l.execution_time, l.task_id FROM looked AS l
                    ORDER BY l.lane DESC, l.priority DESC, l.execution_time DESC, l.task_id DESC
                    LIMIT 1
                ) AS o ON TRUE
                $sql$,
                omd_dispatch._model_table(v_suspension.family_code),
                omd_dispatch._criteria_sql(v_suspension.family_code),
                omd_dispatch._partition_sql(v_suspension.family_code),
                CASE
                    WHEN v_suspension.looked_lane IS NOT NULL
                        THEN
                            'AND (t.lane, t.priority, t.execution_time, t.task_id)'
                            ' > ($3 COLLATE "C", $4, $5, $6)'
                END
            )
            INTO v_is_end, v_is_passed_over, v_marked, v_lane, v_priority, v_time, v_task_id
            USING
                p_suspension_id, p_limit, v_suspension.looked_lane, v_suspension.looked_priority,
                v_suspension.looked_time, v_suspension.looked_task_id;
            EXIT;
        EXCEPTION
            WHEN serialization_failure THEN
                -- A purge has moved a task.
                NULL;
        END;
    END LOOP;
    v_is_passed_over := v_is_passed_over OR v_suspension.is_passed_over;
    UPDATE omd_dispatch.task_suspension AS s SET
        is_marked = v_is_end AND NOT v_is_passed_over,
        is_passed_over = v_is_passed_over AND NOT v_is_end,
        looked_lane = CASE WHEN NOT v_is_end THEN v_lane END,
        looked_priority = CASE WHEN NOT v_is_end THEN v_priority END,
        looked_time = CASE WHEN NOT v_is_end THEN v_time END,
        looked_task_id = CASE WHEN NOT v_is_end THEN v_task_id END
    WHERE s.suspension_id = p_suspension_id AND NOT s.is_marked;
    RETURN v_marked;
END
$mark_suspended$;

COMMENT ON FUNCTION omd_dispatch._mark_suspended IS
'Looks at the next p_limit pending tasks, marks those that the suspension p_suspension_id holds, '
'and returns their number. Locks: the suspension; the tasks that it marks; locked ones are passed '
'over.';
