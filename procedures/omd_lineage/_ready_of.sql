-- To plan the ready list takes ten times as long as to read it for a few topics, and a client's
-- query of it is planned each time. Here a session keeps the plan, which has indexes alone, whatever
-- the statistics say. The whole list has 10,000 topics, and this costs for one of them what it costs
-- where there is no other.

CREATE OR REPLACE FUNCTION omd_lineage._ready_of(
    p_topic_ids integer[]
)
RETURNS SETOF omd_lineage.ready_list
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $ready_of$
BEGIN
    RETURN QUERY
    SELECT r.*
    FROM unnest(p_topic_ids) AS t (topic_id)
    CROSS JOIN LATERAL (
        SELECT l.* FROM omd_lineage.ready_list AS l
        WHERE l.topic_id = t.topic_id
        OFFSET 0
    ) AS r
    ORDER BY r.lag DESC NULLS FIRST, r.topic_id ASC;
END
$ready_of$;

COMMENT ON FUNCTION omd_lineage._ready_of IS
'Returns the rows of omd_lineage.ready_list of the topics p_topic_ids. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._ready_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._ready_of TO omd_reader;
