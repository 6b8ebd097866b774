-- This is the one place of the rule when a row that is read twice is in the destination twice. It
-- does not know what a procedure of the user's own does, so it counts as one that inserts.

CREATE OR REPLACE FUNCTION omd_lineage._inserts_only(
    p_topic omd_lineage.topic
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce((p_topic).processor <> 'RELOAD', FALSE)
        AND (p_topic).merge_key IS NULL
        AND (p_topic).recompute_key IS NULL;
END;

COMMENT ON FUNCTION omd_lineage._inserts_only IS
'Returns whether the steps of the topic p_topic insert rows and replace none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._inserts_only TO omd_runner, omd_admin;
