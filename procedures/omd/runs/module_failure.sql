-- The failure event is the same for every caller; fail_module_instance writes it.

CREATE OR REPLACE PROCEDURE omd.module_failure(
    p_module_instance_id bigint,
    p_event_detail text DEFAULT NULL,
    p_event_return_code_details text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $module_failure$
BEGIN
    PERFORM omd.fail_module_instance(
        p_module_instance_id,
        omd._who_failed_it(
            (
                SELECT mi.started_by FROM omd.module_instance AS mi
                WHERE mi.module_instance_id = p_module_instance_id
            ),
            p_event_detail
        ),
        -- A word of OMD is no code of a text that somebody delivers.
        CASE
            WHEN p_event_return_code_details IN ('ENDED', 'RETRY')
                THEN lower(p_event_return_code_details)
            ELSE p_event_return_code_details
        END
    );
END
$module_failure$;

COMMENT ON PROCEDURE omd.module_failure IS
'For programs: '
'Ends a Module Instance with status F and next_run_indicator R: the next begin of the Module rolls '
'its rows back. It writes one event. p_event_detail: text of any length; the event also says who '
'called, where that is not who began the run or there is no text. p_event_return_code_details: '
'code of the error. It is accepted from E only. Errors: OM004, OM005, OM101. Locks: the instance '
'row. DIRECT, "Module Failure event". Call again when the answer was lost; OM101 with '
'execution_status_code F says that it is done.';
GRANT EXECUTE ON PROCEDURE omd.module_failure TO omd_runner;
