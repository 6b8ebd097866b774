-- A begin reads the place of a Batch, and nothing later does, so a run that executes goes on. A
-- trigger logs the edit.

CREATE OR REPLACE PROCEDURE omd.remove_batch_from_parent_batch(
    p_batch_code text,
    p_parent_batch_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $remove_batch_from_parent_batch$
DECLARE
    v_batch_id integer := omd._require_batch(p_batch_code);
    v_parent_batch_id integer := omd._require_batch(p_parent_batch_code);
BEGIN
    DELETE FROM omd.batch_hierarchy AS bh
    WHERE bh.batch_id = v_batch_id AND bh.parent_batch_id = v_parent_batch_id;
END
$remove_batch_from_parent_batch$;

COMMENT ON PROCEDURE omd.remove_batch_from_parent_batch IS
'Removes the Batch p_batch_code from its parent p_parent_batch_code; it does nothing when the '
'Batch is not under it. History stays, and a run that executes goes on; the next begin of the '
'Batch under that parent is aborted (NOT_REGISTERED). The event log says who removed it. Errors: '
'OM001, OM005. Locks: the batch_hierarchy row.';
GRANT EXECUTE ON PROCEDURE omd.remove_batch_from_parent_batch TO omd_admin;
