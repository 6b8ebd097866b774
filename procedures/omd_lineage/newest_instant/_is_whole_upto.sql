-- The ready list and the planner must come to the same answer, so both call this function.

CREATE OR REPLACE FUNCTION omd_lineage._is_whole_upto(
    p_upto timestamptz,
    p_least_pos timestamptz,
    p_least_is_whole boolean,
    p_base_pos timestamptz,
    p_base_is_whole boolean
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE p_upto
            WHEN p_least_pos THEN p_least_is_whole
            WHEN p_base_pos THEN p_base_is_whole
            ELSE FALSE
        END;
END;

COMMENT ON FUNCTION omd_lineage._is_whole_upto IS
'Answers whether a topic that may read up to p_upto may read the rows of that instant too: whether '
'that is where its slowest dependency is (p_least_pos), or its base table (p_base_pos), and all '
'rows of the instant are there. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._is_whole_upto TO omd_runner, omd_admin;
