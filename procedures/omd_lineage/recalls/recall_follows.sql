-- What a later step has replaced is not there any more, so steps that replace rows by key go
-- together from the first one on. A step on Spark waits for its rollback, which takes the later
-- ones with it, as every rollback of a step does. Others stand alone.

CREATE OR REPLACE FUNCTION omd_lineage.recall_follows(
    p_instance_array bigint[],
    p_again_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    because_of bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_follows$
BEGIN
    RETURN QUERY
    SELECT
        w.module_instance_id,
        t.instance_array[1]
    FROM omd_lineage._recalled_topics(p_instance_array) AS t
    CROSS JOIN LATERAL (
        SELECT
            i.start_value,
            i.start_id
        FROM unnest(t.instance_array) AS g (id)
        CROSS JOIN LATERAL omd.instance_state(g.id) AS i
        ORDER BY i.start_value NULLS FIRST, i.start_id NULLS FIRST
        LIMIT 1
    ) AS f
    CROSS JOIN LATERAL omd.succeeded_windows(
        t.module_id, '-infinity', -9223372036854775808, 'infinity', 9223372036854775807
    ) AS w
    WHERE (t.replaces OR NOT t.is_here)
        AND t.processor <> 'RELOAD'
        AND (
            w.module_instance_id > t.instance_array[1]
            OR (w.start_value, w.start_id) >= (f.start_value, f.start_id)
        )
        AND (w.module_instance_id = ANY(p_instance_array)) IS NOT TRUE;
END
$recall_follows$;

COMMENT ON FUNCTION omd_lineage.recall_follows IS
'For rooms: Returns the steps that stand and must go with those of p_instance_array, and because '
'of which: the later ones of a topic that replaces rows by key, or whose target is not in this '
'database. p_again_array: those that come again; it changes nothing here. Locks: none.';
