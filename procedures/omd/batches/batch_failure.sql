-- What executes in the Batch is locked first, since it fails with it (omd._lock_members).

CREATE OR REPLACE PROCEDURE omd.batch_failure(
    p_batch_instance_id bigint,
    p_event_detail text DEFAULT NULL,
    p_event_return_code_details text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $batch_failure$
BEGIN
    PERFORM omd._lock_members(p_batch_instance_id);
    PERFORM omd._fail_batch_instance(
        p_batch_instance_id,
        omd._who_failed_it(
            (
                SELECT bi.started_by FROM omd.batch_instance AS bi
                WHERE bi.batch_instance_id = p_batch_instance_id
            ),
            p_event_detail
        ),
        p_event_return_code_details
    );
END
$batch_failure$;

COMMENT ON PROCEDURE omd.batch_failure IS
'For programs: '
'Ends a Batch Instance with status F; the next run is a partial restart. It writes one event. '
'p_event_detail: text of any length; the event also says who called, where that is not who began '
'the run or there is no text. p_event_return_code_details: code of the error. It is '
'accepted from E only. Errors: OM003, OM005, OM101. Locks: what executes in it, then the instance '
'row. DIRECT, "Batch Failure event". Call again when the answer was lost; OM101 with '
'execution_status_code F says that it is done.';
GRANT EXECUTE ON PROCEDURE omd.batch_failure TO omd_runner;
