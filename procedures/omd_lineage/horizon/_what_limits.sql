-- It is apart from _find_block, which runs the SQL of views of users and so can't set how its own
-- queries are planned. The newest version of an offset comes first when it is read backwards, as
-- omd.heartbeat says.

CREATE OR REPLACE FUNCTION omd_lineage._what_limits(
    p_topic_id integer
)
RETURNS omd_lineage.block_limits
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $what_limits$
DECLARE
    v_limits omd_lineage.block_limits;
BEGIN
    SELECT
        t.topic_id, t.processor, t.maxstep, o.last, o.quiet_start,
        t.pos_column IS NOT NULL OR t.id_column IS NOT NULL,
        t.depends_on[1], b.table_code, b.pos_column, b.id_column, b.is_lake,
        b.source_kind_code, t.delay = interval '0',
        lag.blocker, t.depends_on[lag.blocker], lag.base_id,
        omd_lineage._horizon(
            CASE WHEN lag.is_complete THEN lag.least_pos END, lag.base_pos, t.delay, t.max_wait,
            o.waiting_since
        ),
        omd_lineage._horizon(
            CASE WHEN lag.is_complete THEN lag.least_pos END, NULL, t.delay, NULL, NULL
        ),
        lag.base_pos,
        o.is_whole,
        b.source_kind_code IS NULL
        AND (
            (t.pos_column IS NULL AND t.id_column IS NULL)
            OR omd_lineage._reads_wholly(t.topic_id)
        )
        AND coalesce(
            omd_lineage._is_whole_upto(
                omd_lineage._horizon(
                    CASE WHEN lag.is_complete THEN lag.least_pos END, lag.base_pos, t.delay,
                    t.max_wait, o.waiting_since
                ),
                CASE WHEN lag.is_complete THEN lag.least_pos END,
                coalesce(lag.least_pos < lag.open_pos, TRUE),
                lag.base_pos, lag.base_is_whole
            ),
            FALSE
        )
    INTO v_limits
    FROM omd_lineage.topic AS t
    CROSS JOIN (
        SELECT n.topic_id, n.last, n.quiet_start, n.waiting_since, n.is_whole
        FROM omd_lineage.offsets AS n
        WHERE n.topic_id BETWEEN p_topic_id AND p_topic_id
        ORDER BY n.topic_id DESC
        LIMIT 1
    ) AS o
    INNER JOIN omd_lineage.base_table AS b ON t.topic_id = b.topic_id
    CROSS JOIN LATERAL (
        SELECT
            count(*) = count(d.pos) AS is_complete,
            -- What a base table has of its own says no clock: its block is found below.
            coalesce(
                min(d.pos) FILTER (WHERE coalesce(d.source_kind_code NOT IN ('FACTS', 'RUNS'), TRUE)),
                'infinity'
            ) AS least_pos,
            min(d.pos) FILTER (WHERE d.ordinal = 1) AS base_pos,
            min(d.id) FILTER (WHERE d.ordinal = 1) AS base_id,
            bool_and(d.is_whole) FILTER (WHERE d.ordinal = 1) AS base_is_whole,
            min(d.pos) FILTER (WHERE NOT d.is_whole) AS open_pos,
            (array_agg(d.ordinal ORDER BY d.pos NULLS FIRST, d.ordinal))[1] AS blocker
        FROM omd_lineage.dependency_offsets AS d
        WHERE d.topic_id = t.topic_id
    ) AS lag
    WHERE t.topic_id = p_topic_id;
    RETURN v_limits;
END
$what_limits$;

COMMENT ON FUNCTION omd_lineage._what_limits IS
'Returns what limits the next block of the topic p_topic_id: where its offset stands, what it '
'reads and how far that has come; no row when there is no such topic. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._what_limits TO omd_runner, omd_admin;
