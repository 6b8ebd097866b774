-- The claimable index is read by skips: a probe for each lane, and one for each priority of a lane,
-- however many tasks wait. The lanes of a group are its name alone, and what begins with its name
-- and a slash.

CREATE OR REPLACE FUNCTION omd_dispatch._due_lanes(
    p_family_code text,
    p_group text,
    p_now timestamptz,
    p_known jsonb DEFAULT NULL
)
RETURNS TABLE (
    lane text,
    priority smallint,
    execution_time timestamptz
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
AS $due_lanes$
BEGIN
    IF p_known IS NOT NULL THEN
        RETURN QUERY EXECUTE format(
            $sql$
            SELECT k.lane, k.priority, d.execution_time
            FROM jsonb_to_recordset($1) AS k (
                family_code text, lane text, priority smallint, begins_at timestamptz
            )
            CROSS JOIN LATERAL (
                SELECT t.execution_time FROM %1$s AS t
                WHERE t.status = 'PENDING'
                    AND t.suspension_id IS NULL
                    AND t.lane = k.lane COLLATE "C"
                    AND t.priority = k.priority
                    AND t.execution_time >= k.begins_at
                    AND t.execution_time <= $2
                ORDER BY t.execution_time
                LIMIT 1
            ) AS d
            WHERE k.family_code = $3
            $sql$,
            omd_dispatch._model_table(p_family_code)
        ) USING p_known, p_now, p_family_code;
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format(
        $sql$
        WITH RECURSIVE lanes AS (
            SELECT
                (
                    SELECT t.lane FROM %1$s AS t
                    WHERE t.status = 'PENDING' AND t.suspension_id IS NULL AND t.lane >= $1
                    ORDER BY t.lane
                    LIMIT 1
                ) AS lane
            UNION ALL
            SELECT
                (
                    SELECT t.lane FROM %1$s AS t
                    WHERE t.status = 'PENDING'
                        AND t.suspension_id IS NULL
                        AND t.lane > CASE
                            WHEN l.lane = $1 OR l.lane >= $1 || '/' THEN l.lane
                            ELSE $1 || '/'
                        END
                    ORDER BY t.lane
                    LIMIT 1
                )
            FROM lanes AS l
            WHERE l.lane < $1 || '0'
        )
        SELECT l.lane, p.priority::smallint, d.execution_time
        FROM lanes AS l
        CROSS JOIN generate_series(0, 9) AS p (priority)
        CROSS JOIN LATERAL (
            SELECT t.execution_time FROM %1$s AS t
            WHERE t.status = 'PENDING'
                AND t.suspension_id IS NULL
                AND t.lane = l.lane
                AND t.priority = p.priority
                AND t.execution_time <= $2
            ORDER BY t.execution_time
            LIMIT 1
        ) AS d
        WHERE l.lane = $1 OR (l.lane > $1 || '/' AND l.lane < $1 || '0')
        $sql$,
        omd_dispatch._model_table(p_family_code)
    ) USING p_group COLLATE "C", p_now;
END
$due_lanes$;

COMMENT ON FUNCTION omd_dispatch._due_lanes IS
'Returns the lanes of the group p_group in which tasks of p_family_code are due at p_now, with '
'each priority that has such tasks, and the execution time of the oldest. p_known: only these '
'lanes and priorities, from begins_at on. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._due_lanes FROM PUBLIC;
