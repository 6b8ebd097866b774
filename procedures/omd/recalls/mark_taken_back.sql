-- A recall takes runs of several rooms back in one transaction: no Module begins for it, so nothing
-- pends whose end would mark them.

CREATE OR REPLACE FUNCTION omd.mark_taken_back(
    p_instance_array bigint[],
    p_recall_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $mark_taken_back$
BEGIN
    PERFORM FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = ANY(p_instance_array)
    ORDER BY mi.module_instance_id
    FOR NO KEY UPDATE;
    UPDATE omd.module_instance AS mi SET
        rolled_back_by_module_instance_id = p_recall_instance_id
    WHERE mi.module_instance_id = ANY(p_instance_array)
        AND mi.rolled_back_by_module_instance_id IS NULL;
    UPDATE omd.source_control AS sc SET is_taken_back = TRUE
    WHERE sc.module_instance_id = ANY(p_instance_array);
    PERFORM omd.note_undone(p_instance_array, p_recall_instance_id);
    -- All Modules that may read these rows are locked, so what begins later has a later id.
    UPDATE omd.undone_run AS u SET undone_upto = p_recall_instance_id
    WHERE u.module_instance_id = ANY(p_instance_array) AND u.undone_by = p_recall_instance_id;
END
$mark_taken_back$;

COMMENT ON FUNCTION omd.mark_taken_back IS
'For rooms: Marks the Module Instances p_instance_array as undone by p_recall_instance_id, the run '
'that took their rows back, and withdraws their load windows. One that is undone already stays as '
'it is. Locks: the instances, in id order.';
