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
DECLARE
    v_context jsonb := p_execution_context;
BEGIN
    -- As in _open_module_instance: a client looks first at what it may prove dead.
    IF p_execution_context @> '{"seen_alive": []}' THEN
        v_context := p_execution_context - 'seen_alive';
        IF EXISTS (
            SELECT FROM omd.batch AS b
            CROSS JOIN LATERAL omd._executing_batch_instances(b.batch_id, NULL) AS e (id)
            INNER JOIN omd.batch_instance AS bi ON e.id = bi.batch_instance_id
            WHERE b.batch_code = p_batch_code
                AND NOT p_execution_context -> 'seen_alive' @> to_jsonb(e.id)
                AND omd._may_be_proven_dead(
                    bi.execution_context,
                    bi.started_by,
                    v_context,
                    ARRAY['host', 'boot_id', 'pid_namespace']
                )
        )
        THEN
            p_batch_instance_id := 0;
            p_processing_indicator := 'A';
            p_reason := 'RUNNING';
            RETURN;
        END IF;
    END IF;
    p_batch_instance_id := omd._insert_batch_instance(
        p_batch_code, p_parent_batch_instance_id, v_context, p_lease, FALSE
    );
    SELECT d.p_processing_indicator, d.p_reason
    INTO p_processing_indicator, p_reason
    FROM omd._decide_batch(p_batch_instance_id, p_force) AS d;
END
$begin_batch$;

COMMENT ON PROCEDURE omd.begin_batch IS
'For programs: '
'Creates and evaluates an instance of the Batch p_batch_code. Returns p_batch_instance_id, '
'p_processing_indicator (P proceed, A abort, C skip) and p_reason. p_parent_batch_instance_id: '
'the instance that calls, NULL or 0 for none. p_execution_context: JSON about where it runs; '
'with the key seen_alive, a list of instances, none is made (p_batch_instance_id is 0) where '
'another one executes whose death the caller may prove by omd.report_death. '
'p_lease: how long the run lives without heartbeat_batch; NULL: for ever. p_force: the frequency '
'does not count. Errors: OM001, OM003, OM005, OM011, OM013, OM014. Locks: the Batch row. DIRECT, '
'"Batch Processing". May be NULL: p_reason.';
GRANT EXECUTE ON PROCEDURE omd.begin_batch TO omd_runner;
