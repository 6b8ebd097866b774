-- The rows of a target outside of this database go with the next begin of their Module, which finds
-- the runs marked. Until then they do not stand, though their rows do.

CREATE OR REPLACE FUNCTION omd.ask_for_rollback(
    p_instance_array bigint[],
    p_recall_instance_id bigint,
    p_recall_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $ask_for_rollback$
BEGIN
    PERFORM omd.require_taken_on(p_instance_array, p_recall_instance_id);
    UPDATE omd.module_instance AS mi SET
        next_run_indicator = 'R',
        next_run_batch_id = NULL
    WHERE mi.module_instance_id = ANY(p_instance_array)
        AND mi.execution_status_code = 'S'
        AND mi.rolled_back_by_module_instance_id IS NULL;
    PERFORM omd.note_pending(p_instance_array, p_recall_id);
END
$ask_for_rollback$;

COMMENT ON FUNCTION omd.ask_for_rollback IS
'For rooms: Marks the runs p_instance_array R for the recall p_recall_id and its run '
'p_recall_instance_id, so that the next begin of their Modules undoes them; who reads their '
'tables waits for that. Errors: OM101: the run of the recall has not taken these on. Locks: the '
'instances.';
GRANT EXECUTE ON FUNCTION omd.ask_for_rollback TO omd_admin;
