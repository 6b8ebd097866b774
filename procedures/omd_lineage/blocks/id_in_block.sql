-- in_block compares a pair, which an index on the id alone can't serve. Like in_block, the body is
-- inlined into the query, so that the index serves it.

CREATE OR REPLACE FUNCTION omd_lineage.id_in_block(
    p_id bigint
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        p_id > nullif(current_setting('omd_lineage.start_id', TRUE), '')::bigint
        AND p_id <= nullif(current_setting('omd_lineage.end_id', TRUE), '')::bigint;
END;

COMMENT ON FUNCTION omd_lineage.id_in_block IS
'For programs: '
'Returns whether the row with the id p_id belongs to the block of the running step, where the '
'position is the id alone (p_pos_column is empty): the condition of a transform view on such a '
'base table. It is not true for a NULL, nor outside of a step and of set_block. Locks: none. See '
'docs/explanation/lineage.md.';
GRANT EXECUTE ON FUNCTION omd_lineage.id_in_block TO omd_reader;
