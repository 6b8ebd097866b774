-- The ready list and the planner must come to the same instant, so both call this function.

CREATE OR REPLACE FUNCTION omd_lineage._horizon(
    p_least_ts timestamptz,
    p_base_ts timestamptz,
    p_delay interval,
    p_max_wait interval,
    p_waiting_since timestamptz
)
RETURNS timestamptz
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN now() - p_waiting_since > p_max_wait
                THEN CASE WHEN p_base_ts IS NOT NULL THEN least(p_base_ts, now() - p_delay) END
            WHEN p_least_ts IS NOT NULL THEN least(p_least_ts, now() - p_delay)
        END;
END;

COMMENT ON FUNCTION omd_lineage._horizon IS
'Returns the instant up to which a topic may read: p_least_ts, where its slowest dependency is '
'(NULL: one dependency has no offset), but at least p_delay ago. Once p_max_wait is over since '
'p_waiting_since, p_base_ts counts instead, where its base table is. It returns NULL when the '
'topic may not read. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._horizon TO omd_reader;
