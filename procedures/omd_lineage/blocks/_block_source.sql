-- A step asks by a function, since a view would stay locked as long as its transforms take; in
-- PL/pgSQL, which keeps its plan: each step asks twice.

CREATE OR REPLACE FUNCTION omd_lineage._block_source(
    p_topic_id integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $block_source$
BEGIN
    RETURN (
        SELECT omd.source_of(d.table_code, 'FACTS')
        FROM omd_lineage.dependency AS d
        WHERE d.topic_id = p_topic_id AND d.ordinal = 1 AND d.source_kind_code = 'FACTS'
        ORDER BY d.source_topic_id
        LIMIT 1
    );
END
$block_source$;

COMMENT ON FUNCTION omd_lineage._block_source IS
'Returns the source whose changes are the blocks of the topic p_topic_id; NULL: its blocks are of '
'rows. Locks: none.';
