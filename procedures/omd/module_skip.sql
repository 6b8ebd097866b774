-- Ends a Module Instance with C, by hand: nothing was written.

CREATE OR REPLACE PROCEDURE omd.module_skip(
    p_module_instance_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $module_skip$
BEGIN
    PERFORM omd._close_module_instance(p_module_instance_id, 'C');
END
$module_skip$;

COMMENT ON PROCEDURE omd.module_skip IS
'Ends a Module Instance with status C. An evaluation that answers C has done so already. Only '
'for a run that has written nothing: no rollback follows; call module_failure for one that has. '
'Accepted from E only. Errors: OM004, OM005, OM101. Locks: the instance row. DIRECT, "Module '
'Skip event".';
REVOKE ALL ON PROCEDURE omd.module_skip FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.module_skip TO omd_runner;
