-- DIRECT creates and evaluates in two events; a driver that does both at once calls begin_batch.

CREATE OR REPLACE PROCEDURE omd.create_batch_instance(
    p_batch_code text,
    p_parent_batch_instance_id bigint DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL,
    INOUT p_batch_instance_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $create_batch_instance$
BEGIN
    p_batch_instance_id := omd._insert_batch_instance(
        p_batch_code, p_parent_batch_instance_id, p_execution_context, NULL, FALSE
    );
    PERFORM omd._tell_instance('Batch Instance', p_batch_instance_id, clock_timestamp());
END
$create_batch_instance$;

COMMENT ON PROCEDURE omd.create_batch_instance IS
'For programs: '
'Creates an instance of the Batch p_batch_code (E, A, P) and returns its id. It may not proceed '
'before evaluate_batch returns P. p_parent_batch_instance_id: the instance that calls, NULL or 0 '
'for none. p_execution_context: JSON about where it runs. Errors: OM001, OM003, OM005, OM013, '
'OM014. Locks: the Batch row. DIRECT, "Batch Create Instance event".';
GRANT EXECUTE ON PROCEDURE omd.create_batch_instance TO omd_runner;
