-- An administrator or a driver may end a run by hand that an evaluation did not end. It is then
-- logged who did it.

CREATE OR REPLACE PROCEDURE omd.batch_skip(
    p_batch_instance_id bigint,
    p_event_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $batch_skip$
BEGIN
    PERFORM omd._lock_members(p_batch_instance_id);
    PERFORM omd._close_batch_instance(p_batch_instance_id, 'C');
    PERFORM omd.write_event(
        0,
        p_batch_instance_id,
        4,
        'E -> C',
        concat_ws(': ', 'skipped by ' || omd.editor(), nullif(p_event_detail, ''))
    );
END
$batch_skip$;

COMMENT ON PROCEDURE omd.batch_skip IS
'For programs: '
'Ends a Batch Instance with status C. An evaluation that returns C has done so already. What '
'executes in it fails. p_event_detail: why, as text; an event records it with the role that '
'called. It is accepted from E only. Errors: OM003, OM005, OM101. Locks: what executes in it, '
'then the instance row. DIRECT, "Batch Skip event". Call again when the answer was lost; OM101 '
'with execution_status_code C says that it is done.';
GRANT EXECUTE ON PROCEDURE omd.batch_skip TO omd_runner;
