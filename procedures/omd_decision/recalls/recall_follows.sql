-- A stage decides on each window by itself, so the other runs of it stand.

CREATE OR REPLACE FUNCTION omd_decision.recall_follows(
    p_instance_array bigint[],
    p_again_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    because_of bigint
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        f.id AS module_instance_id,
        NULL::bigint AS because_of
    FROM unnest(p_instance_array || p_again_array) AS f (id)
    WHERE FALSE;
END;

COMMENT ON FUNCTION omd_decision.recall_follows IS
'For rooms: Returns the runs of stages that must go with those of p_instance_array: none, since '
'each window is decided by itself. p_again_array: those that come again; it changes nothing here. '
'Locks: none.';
