-- The run is visible while it executes, so each step commits. A procedure that commits can't set a
-- search_path, so every name, type and operator is qualified.

CREATE OR REPLACE PROCEDURE omd.run_module(
    p_module_code text,
    p_batch_instance_id bigint DEFAULT NULL,
    p_executable text DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $run_module$
DECLARE
    v_executable pg_catalog.text := p_executable;
    v_indicator pg_catalog.text;
    v_is_cancelled boolean;
BEGIN
    CALL omd.require_no_transaction_block('omd.run_module');
    CALL omd.begin_in_database_run(
        p_module_code, p_batch_instance_id, v_executable, p_module_instance_id, v_indicator,
        p_execution_context
    );
    COMMIT;

    p_execution_status_code := v_indicator;
    IF v_indicator OPERATOR(pg_catalog.=) 'P' THEN
        CALL omd.execute_module(
            p_module_instance_id, v_executable, p_execution_status_code, v_is_cancelled
        );
    END IF;
    IF v_is_cancelled THEN
        RAISE EXCEPTION USING
            ERRCODE = 'query_canceled',
            MESSAGE = pg_catalog.format('Module Instance %s was cancelled', p_module_instance_id),
            DETAIL = pg_catalog.jsonb_build_object(
                'module_instance_id', p_module_instance_id
            )::pg_catalog.text,
            HINT = pg_catalog.format(
                'The failure is recorded. CALL omd.run_module(%L);', p_module_code
            );
    END IF;
END
$run_module$;

COMMENT ON PROCEDURE omd.run_module IS
'Runs the Module p_module_code in the database: begins it, executes p_executable (else the '
'registered SQL) and ends it. Returns p_module_instance_id and p_execution_status_code: S, F (the '
'error is in the event log), A or C. The executable reads '
'current_setting(''omd.module_instance_id''). p_execution_context: JSON about where it runs. It '
'commits, so call it outside a transaction block. The run lives as long as this statement; if the '
'statement is broken off, the next begin declares the run dead. Errors: OM002, OM003, OM005, '
'OM009, OM013, OM014, OM018, OM101 (the Batch has just ended), OM112: the rollback does not undo '
'everything, OM201, OM202, OM203, OM204, OM205, 57014. Locks: the Module row while it begins.';
REVOKE ALL ON PROCEDURE omd.run_module FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.run_module TO omd_runner;
