-- DIRECT creates and evaluates in two events; a driver that does both at once calls begin_module.

CREATE OR REPLACE PROCEDURE omd.create_module_instance(
    p_module_code text,
    p_batch_instance_id bigint DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $create_module_instance$
BEGIN
    SELECT o.p_module_instance_id INTO p_module_instance_id
    FROM omd._open_module_instance(
        p_module_code, p_batch_instance_id, p_execution_context, NULL, FALSE, FALSE
    ) AS o;
END
$create_module_instance$;

COMMENT ON PROCEDURE omd.create_module_instance IS
'For programs: '
'Creates an instance of the Module p_module_code (E, A, P) and returns its id. It may not proceed '
'before evaluate_module returns P. p_batch_instance_id: the Batch Instance that calls, NULL or 0 '
'for a run on its own. p_execution_context: JSON about where it runs. Errors: OM002, OM003, '
'OM005, OM013, OM014. Locks: the Module row. DIRECT, "Module Create Instance event".';
GRANT EXECUTE ON PROCEDURE omd.create_module_instance TO omd_runner;
