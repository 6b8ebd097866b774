-- A begin undoes what is pending. A room that takes the work of certain runs again names these
-- runs, and no later one goes with them.

CREATE OR REPLACE PROCEDURE omd.undo_instances(
    p_module_instance_id bigint,
    p_instance_array bigint[],
    INOUT p_processing_indicator text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $undo_instances$
DECLARE
    v_platform_code text := omd._ask_rollback(p_module_instance_id, p_instance_array);
BEGIN
    p_processing_indicator := 'R';
    CALL omd._settle_rollback(p_module_instance_id, v_platform_code, p_processing_indicator);
END
$undo_instances$;

COMMENT ON PROCEDURE omd.undo_instances IS
'For rooms: Undoes the instances p_instance_array of the Module of the executing instance '
'p_module_instance_id, with the rights of the caller, and returns the indicator P. For a target '
'that is not in this database it returns R: the caller executes the statements and confirms, as '
'after a begin. Errors: OM004, OM009, OM101, OM112, OM201, OM202, OM205. Locks: the instances to '
'undo, the target rows.';
GRANT EXECUTE ON PROCEDURE omd.undo_instances TO omd_runner;
