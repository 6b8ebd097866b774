-- A begin does not commit, so its error can be caught, recorded and raised again by the caller, who
-- commits the record first. A dynamic CALL answers its INOUT parameters.

CREATE OR REPLACE PROCEDURE omd._try_begin(
    p_module_code text,
    p_batch_instance_id bigint,
    p_execution_context jsonb,
    INOUT p_outcome text,
    INOUT p_module_instance_id bigint,
    INOUT p_executable text,
    INOUT p_detail text,
    INOUT p_module_kind_code text,
    INOUT p_error jsonb
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $try_begin$
DECLARE
    v_routine text;
    v_sqlstate text;
    v_message text;
    v_detail text;
    v_hint text;
    v_context text;
BEGIN
    SELECT k.p_module_kind_code, k.p_begin_routine INTO p_module_kind_code, v_routine
    FROM omd._require_database_run(p_module_code, p_executable, p_batch_instance_id) AS k;
    IF v_routine IS NULL THEN
        p_outcome := 'SKIPPED';
        p_detail := 'INACTIVE';
        RETURN;
    END IF;
    EXECUTE format('CALL %s($1, $2, $3, $4, $5, $6, $7)', v_routine)
    INTO p_outcome, p_module_instance_id, p_executable, p_detail
    USING
        p_module_code, p_batch_instance_id, p_execution_context, p_outcome, p_module_instance_id,
        p_executable, p_detail;
EXCEPTION
    WHEN query_canceled OR assert_failure OR OTHERS THEN
        GET STACKED DIAGNOSTICS
            v_sqlstate = RETURNED_SQLSTATE,
            v_message = MESSAGE_TEXT,
            v_detail = PG_EXCEPTION_DETAIL,
            v_hint = PG_EXCEPTION_HINT,
            v_context = PG_EXCEPTION_CONTEXT;
        p_outcome := 'FAILED';
        p_module_instance_id := NULL;
        p_detail := split_part(v_message, E'\n', 1);
        p_error := jsonb_build_object(
            'sqlstate', v_sqlstate,
            'message', v_message,
            'detail', v_detail,
            'hint', v_hint,
            'context', v_context
        );
        -- A begin that answers FAILED has counted. Without a routine the database can't begin it.
        IF v_routine IS NOT NULL AND NOT omd.is_of_the_call(v_sqlstate) THEN
            CALL omd.note_failure(p_module_code, v_message, v_sqlstate);
        END IF;
END
$try_begin$;

COMMENT ON PROCEDURE omd._try_begin IS
'Begins a run of the Module p_module_code by the routine of its kind, for p_batch_instance_id, '
'with p_execution_context and, where the caller has SQL, p_executable. Returns what the routine '
'answers, p_module_kind_code, and p_error when it raised: the fields of the error; p_outcome is '
'FAILED then. Locks: the Module row, and what the kind takes.';
GRANT EXECUTE ON PROCEDURE omd._try_begin TO omd_runner;
