-- Ends a Batch Instance with A, by hand: nothing was run.

CREATE OR REPLACE PROCEDURE omd.batch_abort(
    p_batch_instance_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $batch_abort$
BEGIN
    PERFORM omd._close_batch_instance(p_batch_instance_id, 'A');
END
$batch_abort$;

COMMENT ON PROCEDURE omd.batch_abort IS
'Ends a Batch Instance with status A. An evaluation that answers A has done so already. Accepted '
'from E only. Errors: OM003, OM005, OM101. Locks: the instance row. DIRECT, "Batch Abort event".';
REVOKE ALL ON PROCEDURE omd.batch_abort FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.batch_abort TO omd_runner;
