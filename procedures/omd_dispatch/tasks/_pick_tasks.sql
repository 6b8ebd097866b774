-- What others hold is passed over. The ids are grouped by partition, so that the statement that
-- changes these tasks probes one partition.
--
-- Pending tasks have no index in the order of their ids, so they are all sorted, for each part
-- anew. Where the primary key finds a whole part close behind the last one, it is walked instead:
-- in most cases the tasks were created one after the other.

CREATE OR REPLACE FUNCTION omd_dispatch._pick_tasks(
    p_filter jsonb,
    p_counted_at timestamptz,
    p_limit integer,
    p_after_task_id bigint,
    p_further_condition text DEFAULT 'TRUE'
)
RETURNS TABLE (
    partition_code integer,
    status text,
    task_ids bigint[]
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET enable_sort = on
SET jit = off
AS $pick_tasks$
DECLARE
    v_filter record;
    v_is_close boolean;
BEGIN
    PERFORM omd.require_read_committed(), omd.require_chunk(p_counted_at, p_limit);
    v_filter := omd_dispatch._filter_sql(p_filter, p_counted_at);
    PERFORM omd_dispatch._hold_model(v_filter.p_family_code);
    -- A change of the master may have been waited for.
    PERFORM omd_dispatch._require_new_model(v_filter.p_family_code);
    IF v_filter.p_id <> 't.task_id' AND p_after_task_id IS NOT NULL THEN
        PERFORM set_config('enable_sort', 'off', TRUE);
        EXECUTE format(
            'SELECT count(*) = %4$s FROM (SELECT FROM %1$s AS t WHERE %2$s AND %5$s'
            ' AND t.task_id > %3$s AND t.task_id <= %3$s + 10 * %4$s::bigint'
            ' ORDER BY t.task_id LIMIT %4$s) AS c',
            omd_dispatch._data_table(v_filter.p_family_code),
            v_filter.p_condition,
            p_after_task_id,
            p_limit,
            p_further_condition
        ) INTO v_is_close;
        IF v_is_close THEN
            v_filter.p_id := 't.task_id';
        ELSE
            PERFORM set_config('enable_sort', 'on', TRUE);
        END IF;
    END IF;
    LOOP
        BEGIN
            RETURN QUERY EXECUTE format(
                'SELECT p.partition_code, p.status, array_agg(p.task_id) FROM ('
                'SELECT t.partition_code, t.status, t.task_id FROM %1$s AS t'
                ' WHERE %2$s AND %3$s > %4$s AND %5$s'
                ' ORDER BY %3$s LIMIT %6$s FOR UPDATE SKIP LOCKED'
                ') AS p GROUP BY p.partition_code, p.status',
                omd_dispatch._data_table(v_filter.p_family_code),
                v_filter.p_condition,
                v_filter.p_id,
                coalesce(p_after_task_id, -1),
                p_further_condition,
                p_limit
            );
            RETURN;
        EXCEPTION
            WHEN serialization_failure THEN
                -- A purge has moved a task.
                NULL;
        END;
    END LOOP;
END
$pick_tasks$;

COMMENT ON FUNCTION omd_dispatch._pick_tasks IS
'Locks up to p_limit tasks that count_tasks would count with p_filter and p_counted_at, in the '
'order of their ids, those after p_after_task_id (NULL: all) for which the SQL condition '
'p_further_condition on a task t holds, and returns their ids by partition and status. Errors: '
'OM005, OM013, OM014, OM070, OM071, OM075, OM078, OM099, OM173, 42501. Locks: the model of the '
'family, shared, and the tasks; locked ones are passed over.';
