-- A run that hangs ends by the ordinary failure event, so that the next begin treats it like any
-- other failure.

CREATE OR REPLACE PROCEDURE omd.end_module_instance(
    p_module_instance_id bigint,
    p_event_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_module_instance$
DECLARE
    v_event_detail text := concat_ws(': ', 'ended by ' || omd.editor(), nullif(p_event_detail, ''));
BEGIN
    BEGIN
        PERFORM omd.fail_module_instance(p_module_instance_id, v_event_detail, 'ENDED');
    EXCEPTION
        WHEN SQLSTATE 'OM101' THEN
            -- It has failed already, perhaps because another administrator has just ended it, so
            -- there is nothing left to do.
            IF EXISTS (
                SELECT FROM omd.module_instance AS mi
                WHERE mi.module_instance_id = p_module_instance_id
                    AND mi.execution_status_code = 'F'
            ) THEN
                RETURN;
            END IF;
            RAISE;
    END;

    PERFORM omd.write_event(
        p_module_instance_id,
        (
            SELECT mi.batch_instance_id FROM omd.module_instance AS mi
            WHERE mi.module_instance_id = p_module_instance_id
        ),
        4,
        'E -> F',
        v_event_detail
    );
END
$end_module_instance$;

COMMENT ON PROCEDURE omd.end_module_instance IS
'Ends the Module Instance p_module_instance_id, which executes, with status F, as module_failure '
'does: the next begin of the Module rolls its rows back, and if the run goes on, it is fenced. It '
'does not stop the program of the run. Its failure event and an event of type 4 say who called '
'it, and why. p_event_detail: why it is ended. An instance that has failed already stays as it '
'is. Errors: OM004, OM005, OM101 (it has succeeded, or was aborted or skipped). Locks: the '
'instance row.';
GRANT EXECUTE ON PROCEDURE omd.end_module_instance TO omd_admin;
