-- Ends a Batch Instance with C, by hand: nothing was run.

CREATE OR REPLACE PROCEDURE omd.batch_skip(
    p_batch_instance_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $batch_skip$
BEGIN
    PERFORM omd._close_batch_instance(p_batch_instance_id, 'C');
END
$batch_skip$;

COMMENT ON PROCEDURE omd.batch_skip IS
'Ends a Batch Instance with status C. An evaluation that answers C has done so already. Accepted '
'from E only. Errors: OM003, OM005, OM101. Locks: the instance row. DIRECT, "Batch Skip event".';
REVOKE ALL ON PROCEDURE omd.batch_skip FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.batch_skip TO omd_runner;
