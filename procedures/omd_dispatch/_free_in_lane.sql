-- One claim at a time takes from a limited lane: it counts what others have committed, since its
-- statement after the lock has a new snapshot.

CREATE OR REPLACE FUNCTION omd_dispatch._free_in_lane(
    p_family_code text,
    p_lane text,
    p_max_running integer
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $free_in_lane$
DECLARE
    v_running integer;
BEGIN
    IF NOT pg_try_advisory_xact_lock(
        hashtextextended('omd_dispatch ' || p_family_code || ' ' || p_lane, 7302500)
    ) THEN
        RETURN 0;
    END IF;
    EXECUTE format(
        'SELECT count(*) FROM (SELECT FROM %s WHERE status = ''CLAIMED'' AND lane = $1 LIMIT $2)'
        ' AS c',
        omd_dispatch._model_table(p_family_code)
    )
    INTO v_running
    USING p_lane COLLATE "C", p_max_running;
    RETURN p_max_running - v_running;
END
$free_in_lane$;

COMMENT ON FUNCTION omd_dispatch._free_in_lane IS
'Returns how many more tasks of p_family_code may be claimed in p_lane, of which p_max_running run'
' at once; 0 also while another claim holds the lane. Locks: the lane, until the end of the '
'transaction, if it is free.';
REVOKE ALL ON FUNCTION omd_dispatch._free_in_lane FROM PUBLIC;
