-- A reader has read a position when one of its blocks holds it: topics share the clock of their
-- positions. A RELOAD has read everything.

CREATE OR REPLACE FUNCTION omd_lineage._readers(
    p_topic_id integer,
    p_start omd_lineage.row_position,
    p_end omd_lineage.row_position
)
RETURNS TABLE (
    topic_id integer,
    topic text,
    distance integer,
    steps bigint,
    first_instance_id bigint,
    last_instance_id bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        t.topic_id,
        t.topic,
        f.distance,
        w.steps,
        w.first_instance_id,
        w.last_instance_id
    FROM omd_lineage._downstream(p_topic_id) AS f
    INNER JOIN omd_lineage.topic AS t ON f.topic_id = t.topic_id
    CROSS JOIN
        LATERAL (
            SELECT
                count(*) AS steps,
                min(s.module_instance_id) AS first_instance_id,
                max(s.module_instance_id) AS last_instance_id
            FROM omd.succeeded_windows(
                t.module_id,
                CASE WHEN t.processor = 'RELOAD' THEN '-infinity' ELSE (p_start).pos END,
                (p_start).id,
                CASE WHEN t.processor = 'RELOAD' THEN 'infinity' ELSE (p_end).pos END,
                (p_end).id
            ) AS s
        ) AS w
    WHERE w.steps > 0;
END;

COMMENT ON FUNCTION omd_lineage._readers IS
'Returns the topics downstream of p_topic_id that have read positions in (p_start, p_end], with '
'their distance (1: directly), the number of their steps that have, and the first and the last of '
'these. Locks: none.';
