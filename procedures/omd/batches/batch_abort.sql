-- An administrator or a driver may end a run by hand that an evaluation did not end. It is then
-- logged who did it.

CREATE OR REPLACE PROCEDURE omd.batch_abort(
    p_batch_instance_id bigint,
    p_event_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $batch_abort$
BEGIN
    PERFORM omd._lock_members(p_batch_instance_id);
    PERFORM omd._close_batch_instance(
            p_batch_instance_id,
            'A',
            (
                SELECT r.reason_code FROM omd.reason AS r
                WHERE r.reason_code = split_part(p_event_detail, ':', 1)
            )
        );
    PERFORM omd.write_event(
        0,
        p_batch_instance_id,
        4,
        'E -> A',
        concat_ws(': ', 'aborted by ' || omd.editor(), nullif(p_event_detail, ''))
    );
END
$batch_abort$;

COMMENT ON PROCEDURE omd.batch_abort IS
'For programs: '
'Ends a Batch Instance with status A. An evaluation that returns A has done so already. What '
'executes in it fails. p_event_detail: why, as text; an event records it with the role that '
'called, and where it begins with a code of omd.reason and a colon, that is the reason of the '
'instance. It is accepted from E only. Errors: OM003, OM005, OM101. Locks: what executes in it, '
'then the instance row. DIRECT, "Batch Abort event". Call again when the answer was lost; OM101 '
'with execution_status_code A says that it is done.';
GRANT EXECUTE ON PROCEDURE omd.batch_abort TO omd_runner;
