-- The run is bound to this statement: when the statement ends, a run that still executes is dead,
-- without any lease where the server shows that. The procedure does not commit, so that its caller
-- decides what is one transaction.

CREATE OR REPLACE PROCEDURE omd.begin_in_database_run(
    p_module_code text,
    p_batch_instance_id bigint,
    INOUT p_executable text,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_processing_indicator text DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $begin_in_database_run$
DECLARE
    v_answer record;
BEGIN
    IF p_executable IS NULL THEN
        SELECT d.executable INTO p_executable FROM omd.module_definition(p_module_code) AS d;
    END IF;
    v_answer := omd._open_module_instance(
        p_module_code,
        p_batch_instance_id,
        omd._session_context(p_execution_context)
        || jsonb_build_object('code_checksum', md5(p_executable)),
        NULL,
        TRUE,
        TRUE
    );
    p_module_instance_id := v_answer.p_module_instance_id;
    p_processing_indicator := v_answer.p_processing_indicator;
    IF p_processing_indicator NOT IN ('P', 'R') THEN
        RETURN;
    ELSIF v_answer.p_platform_code <> 'POSTGRES' THEN
        PERFORM omd.raise_error(
            'OM204',
            jsonb_build_object(
                'module_code', p_module_code,
                'platform_code', v_answer.p_platform_code,
                'expected', 'POSTGRES',
                'next_command', format('CALL omd.begin_module(%L);', p_module_code)
            )
        );
    ELSIF coalesce(p_executable, '') ~ '^[[:space:]]*$' THEN
        PERFORM omd._require_database_run(p_module_code, NULL, NULL);
    END IF;
    IF p_processing_indicator = 'R' THEN
        CALL omd._settle_rollback(p_module_instance_id, 'POSTGRES', p_processing_indicator);
    END IF;
    IF v_answer.p_dead_module_id IS NOT NULL AND p_processing_indicator = 'P' THEN
        PERFORM omd._look_for_left_rows(v_answer.p_dead_module_id);
    END IF;
END
$begin_in_database_run$;

COMMENT ON PROCEDURE omd.begin_in_database_run IS
'For rooms: Begins a run of the Module p_module_code in this statement. It returns the id, the '
'Processing Indicator and the SQL to execute (p_executable, else the registered one). '
'p_execution_context: JSON about where it runs. The run lives as long as the statement. Errors: '
'OM002, OM003, OM005, OM009, OM013, OM014, OM101, OM112, OM201, OM202, OM204, OM205, OM214, OM219. '
'Locks: the Module row.';
GRANT EXECUTE ON PROCEDURE omd.begin_in_database_run TO omd_runner;
