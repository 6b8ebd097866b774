-- Claim and plan are one commit and the rows another, so that a retry finds the block. A procedure
-- that commits can't set a search_path, so every name is qualified.

CREATE OR REPLACE PROCEDURE omd_lineage.step(
    p_topic text,
    p_hostid text DEFAULT NULL,
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_rows bigint DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $step$
DECLARE
    v_executable pg_catalog.text;
    v_reason pg_catalog.text;
    v_is_more boolean;
    v_is_cancelled boolean;
BEGIN
    CALL omd.require_no_transaction_block('omd_lineage.step');
    CALL omd_lineage._begin_in_database(
        p_topic, p_hostid, NULL, NULL, p_outcome, p_module_instance_id, v_executable, v_reason,
        p_detail
    );
    COMMIT;
    IF p_outcome OPERATOR(pg_catalog.=) 'RUN' THEN
        -- As omd.finish_run does for every kind: the room knows what the routines of its own are.
        CALL omd.execute_module(
            p_module_instance_id, v_executable, p_execution_status_code, v_is_cancelled, TRUE
        );
        IF p_execution_status_code OPERATOR(pg_catalog.=) 'S' THEN
            p_outcome := 'DONE';
            p_rows := omd_lineage._rows_of_step(p_module_instance_id);
            RETURN;
        END IF;
        CALL omd_lineage.end_run(p_module_instance_id, p_execution_status_code, v_is_more);
        COMMIT;
        IF p_execution_status_code OPERATOR(pg_catalog.=) 'A' THEN
            p_outcome := 'ABORTED';
            p_detail := 'what it was to read is being taken back; the next step plans its block anew';
            RETURN;
        END IF;
        p_outcome := 'ERROR';
        p_detail := coalesce(omd.why_failed(p_module_instance_id, 0), '');
    ELSE
        p_execution_status_code := omd_lineage._status_of_step(p_outcome);
        v_is_cancelled := p_outcome OPERATOR(pg_catalog.=) 'ERROR'
            AND v_reason OPERATOR(pg_catalog.=) '57014';
    END IF;
    IF v_is_cancelled THEN
        RAISE EXCEPTION USING
            ERRCODE = 'query_canceled',
            MESSAGE = pg_catalog.format('the step of %s was cancelled', p_topic),
            DETAIL = pg_catalog.jsonb_build_object(
                'module_instance_id', p_module_instance_id
            )::pg_catalog.text,
            HINT = pg_catalog.format(
                'The failure is recorded. CALL omd_lineage.step(%L);', p_topic
            );
    END IF;
END
$step$;

COMMENT ON PROCEDURE omd_lineage.step IS
'Runs one step of the topic p_topic in the database, as p_hostid (NULL: the session). It plans a '
'block, or takes the one that failed, transforms it and moves the offset; rows, offset and success '
'are one commit. Returns p_outcome: DONE, p_module_instance_id has written p_rows rows; NOJOBS, '
'MUTEX, SKIPPED or ABORTED, nothing was done; ERROR, everything was undone, and the error was '
'recorded and counts as an attempt. p_detail says why. p_execution_status_code: S for DONE, F for '
'ERROR, C for NOJOBS and SKIPPED, A for MUTEX and ABORTED. The ready list heeds repeat, run_window '
'and back-off; step does not. It commits, so call it outside a transaction block. Errors: OM005: '
'p_topic is NULL; OM014: the isolation level is not read committed; OM015: p_topic is not '
'registered; OM018: it is called in a transaction block or from a function; OM100; OM208: it has '
'no steps in the database; 57014: it was cancelled, which is recorded. Locks: the offset and the '
'Module row while it begins; what the transforms take. See docs/explanation/lineage.md. May be '
'NULL: p_module_instance_id, p_rows, p_detail. It may take long.';
GRANT EXECUTE ON PROCEDURE omd_lineage.step TO omd_runner;
