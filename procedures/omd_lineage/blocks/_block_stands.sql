-- Most topics read no changes, and this look costs them a few index look-ups.

CREATE OR REPLACE FUNCTION omd_lineage._block_stands(
    p_topic_id integer,
    p_end_id bigint
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $block_stands$
DECLARE
    v_source text := omd_lineage._block_source(p_topic_id);
BEGIN
    RETURN v_source IS NULL OR omd.block_stands(v_source, p_end_id);
END
$block_stands$;

COMMENT ON FUNCTION omd_lineage._block_stands IS
'Returns whether a block of the topic p_topic_id may end at p_end_id: no undo of facts has reached '
'over its end. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._block_stands TO omd_runner, omd_admin;
