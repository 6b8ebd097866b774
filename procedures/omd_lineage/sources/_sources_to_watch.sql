-- Thousands of tables may be said by hand, or be no topic. Nothing moves by a look at them: it only
-- finds what is wrong. So the names are found first, by what is cheap, and the rest for those that
-- are looked at.

CREATE OR REPLACE FUNCTION omd_lineage._sources_to_watch(
    p_before timestamptz,
    p_limit integer
)
RETURNS SETOF omd_lineage.source_list
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $sources_to_watch$
BEGIN
    RETURN QUERY
    WITH name AS (
        SELECT t.topic AS source
        FROM omd_lineage.topic AS t
        WHERE t.processor IS NULL
            AND t.inactive_indicator = 'N'
            AND t.source_offset = 'HAND'
            AND t.max_age IS NULL
        UNION ALL
        SELECT d.depends_on
        FROM omd_lineage.dependency AS d
        WHERE d.source_topic_id IS NULL
        GROUP BY d.depends_on
        HAVING coalesce(min(d.source_kind_code) NOT IN ('FACTS', 'RUNS'), TRUE)
    ),

    oldest AS MATERIALIZED (
        SELECT n.source, p.probed_at
        FROM name AS n
        LEFT JOIN omd_lineage.source_probe AS p ON n.source = p.source
        WHERE p.probed_at IS NULL OR p.probed_at < p_before
        ORDER BY p.probed_at ASC NULLS FIRST, n.source ASC
        LIMIT p_limit
    )

    SELECT s.*
    FROM oldest AS o
    CROSS JOIN LATERAL (
        SELECT l.* FROM omd_lineage.source_list AS l
        WHERE l.source = o.source
        OFFSET 0
    ) AS s
    ORDER BY o.probed_at ASC NULLS FIRST, o.source ASC;
END
$sources_to_watch$;

COMMENT ON FUNCTION omd_lineage._sources_to_watch IS
'Returns active sources that no look moves and that were not looked at since p_before, p_limit at '
'most: those first that were never looked at, then those whose look was longest ago. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._sources_to_watch TO omd_runner;
