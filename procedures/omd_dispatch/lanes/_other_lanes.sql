-- A new task may be in a lane, or have a priority, in which none was due before. To find it, the
-- tasks of those that are known need not be read, nor what claims have left of them in the index.

CREATE OR REPLACE FUNCTION omd_dispatch._other_lanes(
    p_family_code text,
    p_group text,
    p_now timestamptz,
    p_known jsonb
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
AS $other_lanes$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT d.lane, d.priority, d.execution_time FROM omd_dispatch.%I($1, $2, $3) AS d',
        omd_dispatch._claim_routine(p_family_code, 'other')
    ) USING p_group, p_now, p_known;
END
$other_lanes$;

COMMENT ON FUNCTION omd_dispatch._other_lanes IS
'Returns what _due_lanes returns, without the lanes and priorities in p_known. Locks: none.';
