-- An administrator or a driver may end a run by hand that an evaluation did not end. It is then
-- logged who did it.

CREATE OR REPLACE PROCEDURE omd.module_abort(
    p_module_instance_id bigint,
    p_event_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $module_abort$
BEGIN
    PERFORM omd.write_event(
        p_module_instance_id,
        omd._close_module_instance(
            p_module_instance_id,
            'A',
            (
                SELECT r.reason_code FROM omd.reason AS r
                WHERE r.reason_code = split_part(p_event_detail, ':', 1)
            )
        ),
        4,
        'E -> A',
        concat_ws(': ', 'aborted by ' || omd.editor(), nullif(p_event_detail, ''))
    );
END
$module_abort$;

COMMENT ON PROCEDURE omd.module_abort IS
'For programs: '
'Ends a Module Instance with status A. An evaluation that returns A has done so already. It is '
'only for a run that has written nothing, since no rollback follows; call module_failure for a '
'run that has. p_event_detail: why, as text; an event records it with the role that called, and '
'where it begins with a code of omd.reason and a colon, that is the reason of the instance. It is '
'accepted from E only. Errors: OM004, OM005, OM101. Locks: the instance row. DIRECT, "Module '
'Abort event". Call again when the answer was lost; OM101 with execution_status_code A says that '
'it is done.';
GRANT EXECUTE ON PROCEDURE omd.module_abort TO omd_runner;
