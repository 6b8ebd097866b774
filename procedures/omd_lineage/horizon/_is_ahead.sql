-- The ready list and the planner must come to the same answer, so both call this function.

CREATE OR REPLACE FUNCTION omd_lineage._is_ahead(
    p_upto timestamptz,
    p_upto_is_whole boolean,
    p_base_pos timestamptz,
    p_base_id bigint,
    p_last_pos timestamptz,
    p_last_id bigint,
    p_is_whole boolean
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        p_last_pos < p_upto
        OR coalesce(
            p_upto_is_whole
            AND p_last_pos = p_upto
            AND (NOT p_is_whole OR (p_base_pos = p_upto AND p_base_id > p_last_id)),
            FALSE
        );
END;

COMMENT ON FUNCTION omd_lineage._is_ahead IS
'Answers whether there may be rows up to p_upto behind the offset p_last_pos and p_last_id of a '
'topic: p_upto_is_whole, those of that instant count; p_is_whole, the topic has all of its own; '
'p_base_pos and p_base_id, how far its base table has come. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._is_ahead TO omd_runner, omd_admin;
