-- The claimable index is read by skips: a probe for each lane and priority, however many tasks
-- wait. The lanes of a group are its name alone, and what begins with its name and a slash; no
-- group has a character between them and its name with 0.

CREATE OR REPLACE FUNCTION omd_dispatch._due_lanes(
    p_family_code text,
    p_group text,
    p_now timestamptz,
    p_known jsonb DEFAULT NULL
)
RETURNS TABLE (
    lane text,
    priority smallint,
    execution_time timestamptz
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $due_lanes$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT d.lane, d.priority, d.execution_time FROM omd_dispatch.%I($1, $2, $3) AS d',
        omd_dispatch._claim_routine(p_family_code, 'due')
    ) USING p_group, p_now, p_known;
END
$due_lanes$;

COMMENT ON FUNCTION omd_dispatch._due_lanes IS
'Returns the lanes of the group p_group in which tasks of p_family_code are due at p_now, with '
'each priority that has such tasks, and the execution time of the oldest. p_known: only these '
'lanes and priorities, from begins_at on. Locks: none.';
