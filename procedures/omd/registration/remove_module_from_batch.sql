-- A begin reads the place of a Module, and nothing later does, so a run that executes goes on. A
-- trigger logs the edit.

CREATE OR REPLACE PROCEDURE omd.remove_module_from_batch(
    p_batch_code text,
    p_module_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $remove_module_from_batch$
DECLARE
    v_batch_id integer := omd._require_batch(p_batch_code);
    v_module_id integer := omd._require_module(p_module_code);
BEGIN
    DELETE FROM omd.batch_module AS bm
    WHERE bm.batch_id = v_batch_id AND bm.module_id = v_module_id;
END
$remove_module_from_batch$;

COMMENT ON PROCEDURE omd.remove_module_from_batch IS
'Removes the Module p_module_code from the Batch p_batch_code; it does nothing when the Module is '
'not in it. History stays, and a run that executes goes on; the next begin of the Module in that '
'Batch is aborted (NOT_REGISTERED). The event log says who removed it. Errors: OM001, OM002, '
'OM005. Locks: the batch_module row.';
GRANT EXECUTE ON PROCEDURE omd.remove_module_from_batch TO omd_admin;
