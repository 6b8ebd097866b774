-- Each part reads one partial index, so that the answer does not depend on finished tasks.

CREATE OR REPLACE FUNCTION omd_dispatch._queue()
RETURNS TABLE (
    family_code text,
    task_type text,
    lane text,
    due bigint,
    later bigint,
    suspended bigint,
    claimed bigint,
    dead bigint,
    oldest_due timestamptz
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 50
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $queue$
DECLARE
    v_family_code text;
BEGIN
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        RETURN QUERY EXECUTE format(
            $sql$
            SELECT
                $1,
                t.task_type,
                t.lane,
                count(*) FILTER (
                    WHERE t.status = 'PENDING' AND NOT t.is_held
                        AND t.execution_time <= statement_timestamp()
                ),
                count(*) FILTER (
                    WHERE t.status = 'PENDING' AND NOT t.is_held
                        AND t.execution_time > statement_timestamp()
                ),
                count(*) FILTER (WHERE t.is_held),
                count(*) FILTER (WHERE t.status = 'CLAIMED'),
                count(*) FILTER (WHERE t.status = 'DEAD'),
                min(t.execution_time) FILTER (
                    WHERE t.status = 'PENDING' AND NOT t.is_held
                        AND t.execution_time <= statement_timestamp()
                )
            FROM (
                SELECT t.task_type, t.lane, t.status, %2$s AS is_held, t.execution_time
                FROM %1$s AS t WHERE t.status = 'PENDING' AND t.suspension_id IS NULL
                UNION ALL
                SELECT t.task_type, t.lane, t.status, %2$s, t.execution_time
                FROM %1$s AS t WHERE t.suspension_id IS NOT NULL
                UNION ALL
                SELECT t.task_type, t.lane, t.status, FALSE, t.execution_time
                FROM %1$s AS t WHERE t.status = 'CLAIMED'
                UNION ALL
                SELECT t.task_type, t.lane, t.status, FALSE, t.execution_time
                FROM %1$s AS t WHERE t.status = 'DEAD'
            ) AS t
            GROUP BY t.task_type, t.lane
            ORDER BY t.task_type, t.lane
            $sql$,
            omd_dispatch._model_table(v_family_code),
            omd_dispatch._held_sql(v_family_code)
        ) USING v_family_code;
    END LOOP;
END
$queue$;

COMMENT ON FUNCTION omd_dispatch._queue IS
'Returns the numbers of live and dead tasks of each type and lane. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._queue TO omd_reader;
