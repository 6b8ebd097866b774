-- The ready list and the planner must come to the same instant, so both ask here.

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
'The instant up to which a topic may read: p_least_ts, where its slowest dependency is (NULL: one '
'has no offset), but not younger than p_delay; once p_max_wait has passed since p_waiting_since '
'the same of p_base_ts, where its base table is. NULL: it may not. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._horizon FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._horizon TO omd_reader;
