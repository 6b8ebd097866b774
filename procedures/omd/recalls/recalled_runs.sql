-- A room takes back its own runs, and those of other rooms go in the same transaction.

CREATE OR REPLACE FUNCTION omd.recalled_runs(
    p_recall_instance_id bigint
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT mi.rollback_instance_array
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_recall_instance_id;
END;

COMMENT ON FUNCTION omd.recalled_runs IS
'For rooms: Returns all runs that the run p_recall_instance_id of a recall takes back. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd.recalled_runs TO omd_admin;
