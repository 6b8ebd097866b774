-- The run is visible while it executes, so each step commits. A procedure that commits can't set
-- a search_path, so every name, type and operator is qualified.

CREATE OR REPLACE PROCEDURE omd_decision.run_stage(
    p_stage_code text,
    p_batch_instance_id bigint DEFAULT NULL,
    p_end_value timestamptz DEFAULT NULL,
    p_effective_at timestamptz DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL,
    INOUT p_cycles bigint DEFAULT NULL,
    INOUT p_rows_rejected bigint DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL,
    p_end_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $run_stage$
DECLARE
    v_executable pg_catalog.text;
    v_outcome pg_catalog.text;
    v_is_more boolean;
    v_is_cancelled boolean;
BEGIN
    p_stage_code := omd.require_argument('p_stage_code', p_stage_code);
    CALL omd.require_no_transaction_block('omd_decision.run_stage');
    CALL omd_decision._begin_stage_run(
        p_stage_code, p_batch_instance_id, p_end_value, p_end_id, p_effective_at, NULL,
        v_outcome, p_module_instance_id, v_executable, p_detail
    );
    COMMIT;

    p_execution_status_code := CASE
        WHEN v_outcome OPERATOR(pg_catalog.=) 'BUSY' THEN 'A' ELSE 'C'
    END;
    IF v_outcome OPERATOR(pg_catalog.=) 'RUN' THEN
        CALL omd.finish_run(
            'STAGE', p_module_instance_id, v_executable, p_execution_status_code, p_detail,
            v_is_more, v_is_cancelled
        );
    END IF;
    IF p_execution_status_code OPERATOR(pg_catalog.=) 'S' THEN
        SELECT c.p_cycles, c.p_rows_rejected INTO p_cycles, p_rows_rejected
        FROM omd_decision._counts_of_run(p_module_instance_id) AS c;
    END IF;
    IF v_is_cancelled THEN
        RAISE EXCEPTION USING
            ERRCODE = 'query_canceled',
            MESSAGE = pg_catalog.format('Module Instance %s was cancelled', p_module_instance_id),
            DETAIL = pg_catalog.jsonb_build_object(
                'module_instance_id', p_module_instance_id
            )::pg_catalog.text,
            HINT = pg_catalog.format(
                'The failure is recorded. CALL omd_decision.run_stage(%L);', p_stage_code
            );
    END IF;
END
$run_stage$;

COMMENT ON PROCEDURE omd_decision.run_stage IS
'Runs the stage p_stage_code in the database: it groups the records into cycles, calls the '
'ruleset, writes its outputs and routes the rejects, all waves in one commit. '
'p_batch_instance_id: the Batch Instance that calls, NULL or 0 for a run on its own. p_end_value: '
'up to where a stage with a window reads; NULL: now less its delay. p_end_id: the last change '
'that a stage reads whose window goes by changes; NULL: the newest. A block that would end '
'between a change and its undo ends at the undo. p_effective_at: the moment for which the version '
'of the ruleset is chosen; NULL: now. Returns p_module_instance_id, p_execution_status_code: S, '
'F, A or C, p_cycles, p_rows_rejected, and p_detail, why it is not S; a failed run leaves no row. '
'C without p_module_instance_id: its window has nothing to read, and no run began; A after the '
'begin: rows of its block were taken back, and the next run reads the block anew. It commits, so '
'call it outside a transaction block. The run lives as long as this statement; if the statement '
'is broken off, the next begin declares the run dead. What is wrong with the stage, the ruleset '
'or a source is raised before there is an instance; what comes later ends it with F and one '
'event. Errors: OM002, OM003, OM005: p_stage_code is NULL; OM009, OM010: the window would end '
'before its start; OM013: the setting omd.execution_context is malformed, or there is no change '
'p_end_id; OM014: the isolation level is not read committed; OM018: it is called in a transaction '
'block; OM019: the window is of another kind than those before; OM080: there is no such stage; '
'OM100, OM101, OM112: the rollback of a former run does not undo everything; OM201, OM202, OM205: '
'it can not be built; OM204; OM286: no version of the ruleset is effective; OM287: its function '
'has changed; OM288: it does not run in the database; OM289: a source lacks something; 57014: it '
'was cancelled, which is recorded. Locks: the Module row while it begins; the source of its '
'changes, beside readers; what reading and writing takes. May be NULL: p_module_instance_id, '
'p_cycles, p_rows_rejected, p_detail. It may take long.';
GRANT EXECUTE ON PROCEDURE omd_decision.run_stage TO omd_runner;
