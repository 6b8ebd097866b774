-- Rows of a step are replaced by later steps as a matter of course where keys are merged or
-- recomputed.

CREATE OR REPLACE FUNCTION omd_lineage.merges_rows(
    p_module_id integer
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        EXISTS(
            SELECT FROM omd_lineage.topic AS t
            WHERE t.module_id = p_module_id AND num_nonnulls(t.merge_key, t.recompute_key) > 0
        );
END;

COMMENT ON FUNCTION omd_lineage.merges_rows IS
'For rooms: answers whether steps of the topic with the Module p_module_id replace rows of former '
'ones. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage.merges_rows TO omd_reader;
