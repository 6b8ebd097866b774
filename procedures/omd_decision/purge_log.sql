-- The row of the run stays, since it is small and tells what decided.

CREATE OR REPLACE PROCEDURE omd_decision.purge_log(
    p_keep interval,
    INOUT p_rows bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_log$
DECLARE
    v_before timestamptz := omd.purge_cutoff(p_keep, 1);
    v_rows bigint;
BEGIN
    DELETE FROM omd_decision.cycle AS c
    USING omd_decision.run AS r
    WHERE r.begun_at < v_before AND c.module_instance_id = r.module_instance_id;
    GET DIAGNOSTICS p_rows = ROW_COUNT;
    DELETE FROM omd_decision.reject AS j
    USING omd_decision.run AS r
    WHERE r.begun_at < v_before AND j.module_instance_id = r.module_instance_id;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    p_rows := p_rows + v_rows;
END
$purge_log$;

COMMENT ON PROCEDURE omd_decision.purge_log IS
'Deletes the cycles and rejects that runs have kept which began longer than p_keep ago. Returns '
'p_rows, how many. Errors: OM005: p_keep is NULL; OM013: it is negative. Locks: the deleted '
'rows. Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_decision.purge_log FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_decision.purge_log TO omd_admin;
