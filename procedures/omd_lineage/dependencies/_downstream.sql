-- The distance is that of the shortest way.

CREATE OR REPLACE FUNCTION omd_lineage._downstream(
    p_topic_id integer
)
RETURNS TABLE (
    topic_id integer,
    distance integer
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE reached AS (
        SELECT
            p_topic_id AS topic_id,
            0 AS distance
        UNION
        SELECT
            d.topic_id,
            r.distance + 1 AS distance
        FROM reached AS r
        INNER JOIN omd_lineage.dependency AS d ON r.topic_id = d.source_topic_id
    )

    SELECT
        r.topic_id,
        min(r.distance) AS distance
    FROM reached AS r
    WHERE r.distance > 0
    GROUP BY r.topic_id;
END;

COMMENT ON FUNCTION omd_lineage._downstream IS
'Returns the topics that depend on the topic p_topic_id, directly (distance 1) or through others. '
'Locks: none.';
