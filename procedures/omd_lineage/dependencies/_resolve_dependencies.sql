-- A dependency names a table, and which topics make it changes as topics come and go. The names are
-- resolved when a topic is registered or removed, which is rare, and not on each look at the ready
-- list, which is frequent.

CREATE OR REPLACE FUNCTION omd_lineage._resolve_dependencies(
    p_topic_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $resolve_dependencies$
BEGIN
    DELETE FROM omd_lineage.dependency AS d
    WHERE d.topic_id = p_topic_id;

    INSERT INTO omd_lineage.dependency (
        topic_id, ordinal, source_topic_id, is_single, depends_on, table_code, source_kind_code
    )
    SELECT
        t.topic_id,
        d.ordinal,
        s.topic_id,
        count(*) OVER (PARTITION BY d.ordinal) = 1,
        d.depends_on,
        n.p_table_code,
        omd_lineage._source_kind(
            n.p_table_code, d.ordinal = 1, t.pos_column,
            CASE WHEN s.processor IS NULL THEN s.source_offset END,
            CASE WHEN s.processor IS NULL THEN s.pos_column END,
            s.processor IS NOT NULL
        )
    FROM omd_lineage.topic AS t
    CROSS JOIN LATERAL unnest(t.depends_on) WITH ORDINALITY AS d (depends_on, ordinal)
    CROSS JOIN LATERAL omd_lineage._topic_parts(d.depends_on) AS n
    -- The dependency is made by the shard that it names. Without a name it is the topic's own
    -- shard, where the table has it; else, for a topic with a shard, the topics without one; else
    -- all.
    LEFT JOIN omd_lineage.topic AS s
        ON
            n.p_table_code = s.table_code
            AND (n.p_tag IS NULL OR n.p_tag = s.tag)
            AND CASE
                WHEN n.p_shard IS NOT NULL THEN n.p_shard = s.shard
                WHEN t.shard IS NULL THEN TRUE
                WHEN
                    EXISTS (
                        SELECT FROM omd_lineage.topic AS o
                        WHERE o.table_code = n.p_table_code AND o.shard = t.shard
                    )
                    THEN t.shard IS NOT DISTINCT FROM s.shard
                ELSE s.shard IS NULL
            END
    WHERE t.topic_id = p_topic_id;
END
$resolve_dependencies$;

COMMENT ON FUNCTION omd_lineage._resolve_dependencies IS
'Writes the dependencies of the topic p_topic_id again: for each, the topics that make the table, '
'of the topic''s own shard where there is one. Locks: their rows.';
