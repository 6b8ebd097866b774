-- Creation and evaluation are one transaction, so that of many sessions that begin the same Batch
-- exactly one proceeds.

CREATE OR REPLACE PROCEDURE omd.begin_batch(
    p_batch_code text,
    p_parent_batch_instance_id bigint DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL,
    p_lease interval DEFAULT NULL,
    p_force boolean DEFAULT FALSE,
    INOUT p_batch_instance_id bigint DEFAULT NULL,
    INOUT p_processing_indicator text DEFAULT NULL,
    INOUT p_reason text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $begin_batch$
BEGIN
    p_batch_instance_id := omd._insert_batch_instance(
        p_batch_code, p_parent_batch_instance_id, p_execution_context, p_lease, FALSE
    );
    SELECT d.p_processing_indicator, d.p_reason
    INTO p_processing_indicator, p_reason
    FROM omd._decide_batch(p_batch_instance_id, p_force) AS d;
END
$begin_batch$;

COMMENT ON PROCEDURE omd.begin_batch IS
'Creates and evaluates an instance of the Batch p_batch_code. Returns p_batch_instance_id, '
'p_processing_indicator (P proceed, A abort, C skip) and p_reason. p_parent_batch_instance_id: '
'the instance that calls, NULL or 0 for none. p_execution_context: JSON about where it runs. '
'p_lease: how long the run lives without heartbeat_batch; NULL: for ever. p_force: the frequency '
'does not count. Errors: OM001, OM003, OM005, OM011, OM013, OM014. Locks: the Batch row. DIRECT, '
'"Batch Processing". May be NULL: p_reason.';
REVOKE ALL ON PROCEDURE omd.begin_batch FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.begin_batch TO omd_runner;
