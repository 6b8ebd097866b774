-- Ends a Module Instance with A, by hand: nothing was written.

CREATE OR REPLACE PROCEDURE omd.module_abort(
    p_module_instance_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $module_abort$
BEGIN
    PERFORM omd._close_module_instance(p_module_instance_id, 'A');
END
$module_abort$;

COMMENT ON PROCEDURE omd.module_abort IS
'Ends a Module Instance with status A. An evaluation that answers A has done so already. Only '
'for a run that has written nothing: no rollback follows; call module_failure for one that has. '
'Accepted from E only. Errors: OM004, OM005, OM101. Locks: the instance row. DIRECT, "Module '
'Abort event".';
REVOKE ALL ON PROCEDURE omd.module_abort FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.module_abort TO omd_runner;
