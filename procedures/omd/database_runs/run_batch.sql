-- The Batch is visible while it runs, so each step commits. A procedure that commits can't set a
-- search_path, so every name, type and operator is qualified.

CREATE OR REPLACE PROCEDURE omd.run_batch(
    p_batch_code text,
    p_parent_batch_instance_id bigint DEFAULT NULL,
    INOUT p_batch_instance_id bigint DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL,
    p_force boolean DEFAULT FALSE,
    p_execution_context jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $run_batch$
DECLARE
    v_is_cancelled boolean;
BEGIN
    CALL omd.require_no_transaction_block('omd.run_batch');
    -- A block may set others before it calls this again.
    PERFORM pg_catalog.set_config('omd.session_settings', '', FALSE);
    PERFORM omd._require_database_batch(p_batch_code);
    CALL omd._execute_batch(
        p_batch_code, p_parent_batch_instance_id, p_force, p_batch_instance_id,
        p_execution_status_code, v_is_cancelled, p_execution_context
    );
    IF v_is_cancelled THEN
        RAISE EXCEPTION USING
            ERRCODE = 'query_canceled',
            MESSAGE = pg_catalog.format('Batch Instance %s was cancelled', p_batch_instance_id),
            DETAIL = pg_catalog.jsonb_build_object(
                'batch_instance_id', p_batch_instance_id
            )::pg_catalog.text,
            HINT = pg_catalog.format(
                'The failure is recorded. CALL omd.run_batch(%L);', p_batch_code
            );
    END IF;
END
$run_batch$;

COMMENT ON PROCEDURE omd.run_batch IS
'For programs: '
'Runs the Batch p_batch_code in the database: its Modules by sequence, of any kind that the '
'database performs, each until nothing is left of what was there, then its child Batches. Returns '
'p_batch_instance_id and p_execution_status_code: S, F (the event log names the failed members), A '
'or C. p_parent_batch_instance_id: the instance that calls, NULL or 0 for none. p_force: the '
'frequency does not count, neither for its child Batches. p_execution_context: JSON about where '
'the Batch runs; its members have what the setting omd.execution_context says. It commits, so call '
'it outside a transaction block. The run lives as long as this statement; if the statement is '
'broken off, the next begin declares the run dead. Errors: OM001, OM003, OM005, OM013, OM014, '
'OM018, OM214: a worker process performs a member, also one of a child Batch; nothing has begun; '
'57014. Locks: the Batch row while it begins. It may take long.';
GRANT EXECUTE ON PROCEDURE omd.run_batch TO omd_runner;
