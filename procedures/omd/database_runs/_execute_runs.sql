-- What run_module and a Batch do with a Module: begin, execute, end, and again while more is left.
-- The run is visible while it executes, so each step commits. A procedure that commits can't set a
-- search_path, so every name, type and operator is qualified.

CREATE OR REPLACE PROCEDURE omd._execute_runs(
    p_module_code text,
    p_batch_instance_id bigint,
    p_executable text,
    p_execution_context jsonb,
    p_until_done boolean,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL,
    INOUT p_is_cancelled boolean DEFAULT NULL,
    INOUT p_error jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $execute_runs$
DECLARE
    v_first pg_catalog.timestamptz;
    v_kind pg_catalog.text;
    v_outcome pg_catalog.text;
    v_id bigint;
    v_executable pg_catalog.text;
    v_detail pg_catalog.text;
    v_is_more boolean;
BEGIN
    p_module_instance_id := NULL;
    p_execution_status_code := NULL;
    p_detail := NULL;
    p_is_cancelled := FALSE;
    p_error := NULL;
    LOOP
        v_outcome := NULL;
        v_id := NULL;
        v_executable := p_executable;
        v_detail := NULL;
        CALL omd._try_begin(
            p_module_code, p_batch_instance_id, p_execution_context, v_outcome, v_id,
            v_executable, v_detail, v_kind, p_error
        );
        COMMIT;
        -- What was there at the first begin has ended well; others may have taken the rest.
        EXIT WHEN p_execution_status_code OPERATOR(pg_catalog.=) 'S'
            AND v_outcome OPERATOR(pg_catalog.<>) 'RUN'
            AND v_outcome OPERATOR(pg_catalog.<>) 'FAILED';
        p_module_instance_id := v_id;
        p_detail := v_detail;
        p_execution_status_code := CASE
            WHEN v_outcome OPERATOR(pg_catalog.=) 'BUSY' THEN 'A'
            WHEN v_outcome OPERATOR(pg_catalog.=) 'FAILED' THEN 'F'
            ELSE 'C'
        END;
        p_is_cancelled := coalesce(
            (p_error OPERATOR(pg_catalog.->>) 'sqlstate') OPERATOR(pg_catalog.=) '57014', FALSE
        );
        EXIT WHEN v_outcome OPERATOR(pg_catalog.<>) 'RUN';
        IF p_until_done THEN
            v_first := coalesce(v_first, pg_catalog.clock_timestamp());
        END IF;
        CALL omd.finish_run(
            v_kind, v_id, v_executable, p_execution_status_code, p_detail, v_is_more,
            p_is_cancelled, v_first
        );
        EXIT WHEN p_execution_status_code OPERATOR(pg_catalog.<>) 'S'
            OR p_until_done IS NOT TRUE
            OR v_is_more IS NOT TRUE;
    END LOOP;
    -- Without an instance nothing else shows omd.next_member that it was tried. What needs
    -- a worker is still to be tried by one.
    IF p_module_instance_id IS NULL
        AND p_batch_instance_id OPERATOR(pg_catalog.<>) 0
        AND (p_error OPERATOR(pg_catalog.->>) 'sqlstate' OPERATOR(pg_catalog.=) 'OM214')
        IS NOT TRUE
    THEN
        PERFORM omd._note_member(
            p_batch_instance_id,
            'MODULE',
            p_module_code,
            CASE
                WHEN p_execution_status_code OPERATOR(pg_catalog.=) 'F'
                    THEN omd._member_problem(p_error)
            END
        );
        COMMIT;
    END IF;
END
$execute_runs$;

COMMENT ON PROCEDURE omd._execute_runs IS
'Runs the Module p_module_code in the database, for p_batch_instance_id, with p_executable where '
'the caller gives the SQL, and p_execution_context. p_until_done: again while runs end well and '
'more of what was there at the first begin is left. Returns the last p_module_instance_id (NULL: '
'there is none), p_execution_status_code (S or F; C where there was nothing to do or the run is '
'skipped, A where another works at it), p_detail, p_is_cancelled, and p_error when a begin raised. '
'It commits. Locks: the Module row while it begins; what a run takes.';
GRANT EXECUTE ON PROCEDURE omd._execute_runs TO omd_runner;
