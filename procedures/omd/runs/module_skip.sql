-- An administrator or a driver may end a run by hand that an evaluation did not end. It is then
-- logged who did it.

CREATE OR REPLACE PROCEDURE omd.module_skip(
    p_module_instance_id bigint,
    p_event_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $module_skip$
BEGIN
    PERFORM omd.write_event(
        p_module_instance_id,
        omd._close_module_instance(p_module_instance_id, 'C'),
        4,
        'E -> C',
        concat_ws(': ', 'skipped by ' || omd.editor(), nullif(p_event_detail, ''))
    );
END
$module_skip$;

COMMENT ON PROCEDURE omd.module_skip IS
'For programs: '
'Ends a Module Instance with status C. An evaluation that returns C has done so already. It is '
'only for a run that has written nothing, since no rollback follows; call module_failure for a '
'run that has. p_event_detail: why, as text; an event records it with the role that called. It is '
'accepted from E only. Errors: OM004, OM005, OM101. Locks: the instance row. DIRECT, "Module Skip '
'event". Call again when the answer was lost; OM101 with execution_status_code C says that it is '
'done.';
GRANT EXECUTE ON PROCEDURE omd.module_skip TO omd_runner;
