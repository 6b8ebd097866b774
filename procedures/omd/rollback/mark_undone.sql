-- A delivery is reverted without a run that does it, so its runs are undone by themselves.

CREATE OR REPLACE FUNCTION omd.mark_undone(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $mark_undone$
BEGIN
    PERFORM FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = ANY(p_instance_array)
    ORDER BY mi.module_instance_id
    FOR NO KEY UPDATE;
    UPDATE omd.module_instance AS mi
    SET rolled_back_by_module_instance_id = mi.module_instance_id
    WHERE mi.module_instance_id = ANY(p_instance_array)
        AND mi.rolled_back_by_module_instance_id IS NULL;
    UPDATE omd.source_control AS sc SET is_taken_back = TRUE
    WHERE sc.module_instance_id = ANY(p_instance_array) AND NOT sc.is_taken_back;
    PERFORM omd.note_undone(p_instance_array, NULL);
END
$mark_undone$;

COMMENT ON FUNCTION omd.mark_undone IS
'For rooms: marks the runs p_instance_array as undone, by themselves, and withdraws their load '
'windows; the caller has taken their rows back. Locks: the instances, by id.';
