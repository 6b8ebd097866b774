-- The log grows with each step, and only reports read it.

CREATE OR REPLACE PROCEDURE omd_lineage.purge_log(
    p_keep interval,
    INOUT p_steps bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_log$
DECLARE
    v_before timestamptz := omd.purge_cutoff(p_keep, 1);
BEGIN
    DELETE FROM omd_lineage.log AS l WHERE l.ts < v_before;
    GET DIAGNOSTICS p_steps = ROW_COUNT;
END
$purge_log$;

COMMENT ON PROCEDURE omd_lineage.purge_log IS
'Deletes the entries of the log of steps that are older than p_keep, and returns p_steps, the '
'number of deleted rows. omd.purge_history deletes the runs themselves. Errors: OM005: p_keep is '
'NULL; OM013: it is negative. Locks: the deleted rows. Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_lineage.purge_log FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.purge_log TO omd_admin;
