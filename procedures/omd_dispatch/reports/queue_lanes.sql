-- A screen counts no million. The indexes of claimable and claimed tasks begin with the lane, so
-- they are read by skips, from lane to lane, and no further than p_most in each. Those of dead and
-- of suspended tasks do not: of these the first 100,000 of a family are counted. A family shows at
-- most 1,000 lanes and priorities.

CREATE OR REPLACE FUNCTION omd_dispatch.queue_lanes(
    p_most integer DEFAULT 10000
)
RETURNS TABLE (
    family_code text,
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
AS $queue_lanes$
DECLARE
    v_looked CONSTANT integer := 100000;
    v_lanes CONSTANT integer := 1000;
    v_family_code text;
BEGIN
    p_most := omd.require_argument('p_most', p_most);
    IF p_most < 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object('argument', 'p_most', 'value', p_most, 'expected', '1 or more')
        );
    END IF;
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        RETURN QUERY EXECUTE format(
            $sql$
            WITH RECURSIVE step AS (
                (
                    SELECT t.lane, t.priority, t.execution_time
                    FROM %1$s AS t
                    WHERE t.status = 'PENDING' AND t.suspension_id IS NULL
                    ORDER BY t.lane, t.priority, t.execution_time
                    LIMIT 1
                )
                UNION ALL
                SELECT n.lane, n.priority, n.execution_time
                FROM step AS s
                CROSS JOIN LATERAL (
                    SELECT t.lane, t.priority, t.execution_time
                    FROM %1$s AS t
                    WHERE t.status = 'PENDING'
                        AND t.suspension_id IS NULL
                        AND (t.lane, t.priority) > (s.lane, s.priority)
                    ORDER BY t.lane, t.priority, t.execution_time
                    LIMIT 1
                ) AS n
            ),

            holding AS (
                (
                    SELECT t.lane FROM %1$s AS t
                    WHERE t.status = 'CLAIMED'
                    ORDER BY t.lane
                    LIMIT 1
                )
                UNION ALL
                SELECT n.lane
                FROM holding AS h
                CROSS JOIN LATERAL (
                    SELECT t.lane FROM %1$s AS t
                    WHERE t.status = 'CLAIMED' AND t.lane > h.lane
                    ORDER BY t.lane
                    LIMIT 1
                ) AS n
            ),

            part (lane, due, later, suspended, claimed, dead, oldest_due) AS (
                SELECT p.lane, d.free, w.free, d.held + w.held, 0, 0, d.oldest
                FROM (SELECT s.* FROM step AS s LIMIT $4) AS p
                CROSS JOIN LATERAL (
                    SELECT
                        count(*) FILTER (WHERE NOT c.is_held) AS free,
                        count(*) FILTER (WHERE c.is_held) AS held,
                        min(c.execution_time) FILTER (WHERE NOT c.is_held) AS oldest
                    FROM (
                        SELECT t.execution_time, %2$s AS is_held FROM %1$s AS t
                        WHERE t.status = 'PENDING'
                            AND t.suspension_id IS NULL
                            AND t.lane = p.lane
                            AND t.priority = p.priority
                            AND t.execution_time <= statement_timestamp()
                        ORDER BY t.execution_time
                        LIMIT $2
                    ) AS c
                ) AS d
                CROSS JOIN LATERAL (
                    SELECT
                        count(*) FILTER (WHERE NOT c.is_held) AS free,
                        count(*) FILTER (WHERE c.is_held) AS held
                    FROM (
                        SELECT %2$s AS is_held FROM %1$s AS t
                        WHERE t.status = 'PENDING'
                            AND t.suspension_id IS NULL
                            AND t.lane = p.lane
                            AND t.priority = p.priority
                            AND t.execution_time > statement_timestamp()
                        LIMIT $2
                    ) AS c
                ) AS w
                UNION ALL
                SELECT
                    h.lane,
                    0,
                    0,
                    0,
                    (
                        SELECT count(*) FROM (
                            SELECT FROM %1$s AS t
                            WHERE t.status = 'CLAIMED' AND t.lane = h.lane
                            LIMIT $2
                        ) AS c
                    ),
                    0,
                    NULL
                FROM (SELECT l.* FROM holding AS l LIMIT $4) AS h
                UNION ALL
                SELECT
                    s.lane,
                    count(*) FILTER (WHERE s.is_due AND NOT s.is_held),
                    count(*) FILTER (WHERE NOT s.is_due AND NOT s.is_held),
                    count(*) FILTER (WHERE s.is_held),
                    0,
                    0,
                    min(s.execution_time) FILTER (WHERE s.is_due AND NOT s.is_held)
                FROM (
                    SELECT
                        t.lane,
                        t.execution_time,
                        t.execution_time <= statement_timestamp() AS is_due,
                        %2$s AS is_held
                    FROM %1$s AS t
                    WHERE t.suspension_id IS NOT NULL
                    LIMIT $3
                ) AS s
                GROUP BY s.lane
                UNION ALL
                SELECT d.lane, 0, 0, 0, 0, count(*), NULL
                FROM (SELECT t.lane FROM %1$s AS t WHERE t.status = 'DEAD' LIMIT $3) AS d
                GROUP BY d.lane
            )

            SELECT
                $1,
                p.lane,
                least(sum(p.due), $2)::bigint,
                least(sum(p.later), $2)::bigint,
                least(sum(p.suspended), $2)::bigint,
                least(sum(p.claimed), $2)::bigint,
                least(sum(p.dead), $2)::bigint,
                min(p.oldest_due)
            FROM part AS p
            GROUP BY p.lane
            ORDER BY p.lane
            $sql$,
            omd_dispatch._model_table(v_family_code),
            omd_dispatch._held_sql(v_family_code)
        ) USING v_family_code, p_most, greatest(v_looked, p_most), v_lanes;
    END LOOP;
END
$queue_lanes$;

COMMENT ON FUNCTION omd_dispatch.queue_lanes IS
'For the driver: '
'Returns how many tasks of each lane are due, due later, suspended, claimed and dead, each '
'counted no further than p_most, and since when the oldest is due. Of a family 100,000 dead and '
'as many suspended tasks are looked at, and 1,000 lanes. Errors: OM005: p_most is NULL; OM013: it '
'is below 1. Locks: none. May be NULL: oldest_due.';
GRANT EXECUTE ON FUNCTION omd_dispatch.queue_lanes TO omd_reader;
