-- Who comes at the same moment takes another one, or goes on.

CREATE OR REPLACE FUNCTION omd._claim_maintenance()
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $claim_maintenance$
DECLARE
    v_routine text;
BEGIN
    SELECT t.routine INTO v_routine
    FROM omd.maintenance AS t
    WHERE t.begun_datetime < clock_timestamp() - t.every
    ORDER BY t.begun_datetime, t.routine
    LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED;
    UPDATE omd.maintenance AS t SET begun_datetime = clock_timestamp()
    WHERE t.routine = v_routine;
    RETURN v_routine;
END
$claim_maintenance$;

COMMENT ON FUNCTION omd._claim_maintenance IS
'Takes the routine of omd.maintenance that is due, and returns it; NULL: none is. Locks: its row.';
GRANT EXECUTE ON FUNCTION omd._claim_maintenance TO omd_runner, omd_admin;
