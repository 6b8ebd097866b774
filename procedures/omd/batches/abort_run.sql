-- A room that refuses what a run found ends it as a whole and says why. batch_abort is for a
-- person: what executes in its Batch fails.

CREATE OR REPLACE FUNCTION omd.abort_run(
    p_batch_instance_id bigint,
    p_reason text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $abort_run$
BEGIN
    PERFORM omd.require_name('p_reason', p_reason);
    PERFORM omd._lock_members(p_batch_instance_id);
    PERFORM omd._close_module_instance(mi.module_instance_id, 'A', p_reason)
    FROM omd.module_instance AS mi
    WHERE mi.batch_instance_id = p_batch_instance_id
        AND mi.batch_instance_id <> 0
        AND mi.execution_status_code = 'E';
    PERFORM omd._close_batch_instance(p_batch_instance_id, 'A', p_reason);
END
$abort_run$;

COMMENT ON FUNCTION omd.abort_run IS
'For rooms: Ends the Batch Instance p_batch_instance_id, which executes, and what executes in it '
'with status A and the reason p_reason, a code of omd.reason. No rollback follows, so the caller '
'has removed what the runs wrote. Errors: OM003, OM005, OM013, OM101. Locks: what executes in '
'it, then the instance row.';
