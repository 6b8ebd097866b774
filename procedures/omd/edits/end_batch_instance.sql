-- A run that hangs ends by the ordinary failure event, so that the next begin treats it like any
-- other failure.

CREATE OR REPLACE PROCEDURE omd.end_batch_instance(
    p_batch_instance_id bigint,
    p_event_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_batch_instance$
DECLARE
    v_event_detail text := concat_ws(': ', 'ended by ' || omd.editor(), nullif(p_event_detail, ''));
BEGIN
    BEGIN
        PERFORM omd._lock_members(p_batch_instance_id);
        PERFORM omd._fail_batch_instance(p_batch_instance_id, v_event_detail, 'ENDED');
    EXCEPTION
        WHEN SQLSTATE 'OM101' THEN
            -- It has failed already, perhaps because another administrator has just ended it, so
            -- there is nothing left to do.
            IF EXISTS (
                SELECT FROM omd.batch_instance AS bi
                WHERE bi.batch_instance_id = p_batch_instance_id
                    AND bi.execution_status_code = 'F'
            ) THEN
                RETURN;
            END IF;
            RAISE;
    END;

    PERFORM omd.write_event(
        0,
        p_batch_instance_id,
        4,
        'E -> F',
        v_event_detail
    );
END
$end_batch_instance$;

COMMENT ON PROCEDURE omd.end_batch_instance IS
'Ends the Batch Instance p_batch_instance_id, which executes, with status F, as batch_failure '
'does: what executes in it fails with it, and the next run is a partial restart. It does not stop '
'the program of the run. Its failure event and an event of type 4 say who called it, and why. '
'p_event_detail: why it is ended. An instance that has failed already stays as it is. Errors: '
'OM003, OM005, OM101 (it has succeeded, or was aborted or skipped). Locks: the instance row, then '
'those of its members.';
GRANT EXECUTE ON PROCEDURE omd.end_batch_instance TO omd_admin;
