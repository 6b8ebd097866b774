-- The run is visible while it executes, so each step commits. A procedure that commits can't set a
-- search_path, so every name, type and operator is qualified.

CREATE OR REPLACE PROCEDURE omd.run_module(
    p_module_code text,
    p_batch_instance_id bigint DEFAULT NULL,
    p_executable text DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL,
    p_until_done boolean DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $run_module$
DECLARE
    v_is_cancelled boolean;
    v_error pg_catalog.jsonb;
BEGIN
    CALL omd.require_no_transaction_block('omd.run_module');
    -- A block may set others before it calls this again.
    PERFORM pg_catalog.set_config('omd.session_settings', '', FALSE);
    CALL omd._execute_runs(
        p_module_code, p_batch_instance_id, p_executable, p_execution_context,
        coalesce(p_until_done, p_batch_instance_id OPERATOR(pg_catalog.<>) 0, FALSE),
        p_module_instance_id, p_execution_status_code, p_detail, v_is_cancelled, v_error
    );
    IF v_error IS NOT NULL THEN
        PERFORM omd._raise_again(v_error);
    ELSIF v_is_cancelled THEN
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
'For programs: '
'Runs the Module p_module_code in the database, whatever its kind: begins it, executes it and '
'ends it. p_batch_instance_id: the Batch Instance that calls, NULL or 0 for none. p_executable: '
'SQL for a Module of kind SQL or JOB, instead of the registered one. p_execution_context: JSON '
'about where it runs. p_until_done: again while runs end with S and more is left of what was '
'there at the first begin (of an interface the items that were queued, of a topic while blocks '
'are full); NULL: true in a Batch, else false. Returns p_execution_status_code: S, F (the error '
'is in the event log), C (there was nothing to do, or the run is skipped) or A (another works at '
'it); p_module_instance_id, the last run, NULL where there is no instance; and p_detail, why it '
'is not S. The executable reads current_setting(''omd.module_instance_id''). It commits, so call '
'it outside a transaction block. The run lives as long as this statement; if the statement is '
'broken off, the next begin declares the run dead. Errors: OM002, OM003, OM005, OM009, OM013, '
'OM014, OM018, OM100, OM101 (the Batch has just ended), OM112: the rollback does not undo '
'everything, OM201, OM202, OM204, OM205, OM214: a worker process performs it, OM219: it never '
'runs on its own, or p_executable for the Module of a room, those of the room, 57014. Locks: the '
'Module row while it begins. May be NULL: p_module_instance_id, p_detail. It may take long.';
GRANT EXECUTE ON PROCEDURE omd.run_module TO omd_runner;
