-- Who may read topics need not be able to read the texts of their errors.

CREATE OR REPLACE FUNCTION omd_lineage._state_of(
    p_topic_id integer
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
BEGIN ATOMIC
    SELECT omd_lineage._shown_state(o.attempts, o.state)
    FROM omd_lineage.offsets AS o
    WHERE o.topic_id = p_topic_id;
END;

COMMENT ON FUNCTION omd_lineage._state_of IS
'Returns the state of the topic p_topic_id as the caller may see it. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._state_of TO omd_runner, omd_admin;
