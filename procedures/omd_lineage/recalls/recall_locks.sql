-- A topic that may read a table of the plan must not plan a block meanwhile: it would read past
-- what is about to go. Whoever plans holds its offset.

CREATE OR REPLACE FUNCTION omd_lineage.recall_locks(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_locks$
DECLARE
    v_tables CONSTANT text[] := (
        SELECT array_agg(DISTINCT o.table_code)
        FROM (
            SELECT DISTINCT m.table_code
            FROM omd.standing_runs(p_instance_array) AS r
            INNER JOIN omd.module_target AS m USING (module_id)
        ) AS w
        CROSS JOIN LATERAL unnest(
            coalesce(omd.relations_over(w.table_code), '{}') || w.table_code
        ) AS o (table_code)
    );
BEGIN
    PERFORM FROM omd_lineage.offsets AS o
    WHERE o.topic_id IN (
        SELECT t.topic_id FROM omd_lineage._recalled_topics(p_instance_array) AS t
        UNION
        SELECT d.topic_id FROM omd_lineage.dependency AS d WHERE d.table_code = ANY(v_tables)
        UNION
        SELECT t.topic_id FROM omd_lineage.topic AS t WHERE t.transforms && v_tables
    )
    ORDER BY o.topic_id
    FOR NO KEY UPDATE;
END
$recall_locks$;

COMMENT ON FUNCTION omd_lineage.recall_locks IS
'For rooms: Locks the offsets of the topics that wrote one of the runs p_instance_array, and of '
'those that may read a table of one, until the transaction ends, so that no step of them begins. '
'Locks: these offsets, in the order of their ids.';
