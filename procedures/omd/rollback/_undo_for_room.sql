-- No template is executed and no target is looked at: a room knows what its runs have written, and
-- has the rights of the owner where it begins them. Nothing of other Modules goes with it.

CREATE OR REPLACE FUNCTION omd._undo_for_room(
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $undo_for_room$
DECLARE
    v_run record;
BEGIN
    PERFORM omd._require_rollback(p_module_instance_id, NULL);
    SELECT m.module_id, m.module_code, h.routine, mi.rollback_instance_array
    INTO v_run
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m USING (module_id)
    INNER JOIN omd.room_hook AS h
        ON h.hook = 'UNDO_RUNS' AND m.module_kind_code = h.for_code
    WHERE mi.module_instance_id = p_module_instance_id;
    EXECUTE format('SELECT %s($1, $2)', v_run.routine)
    USING v_run.module_id, v_run.rollback_instance_array;
    PERFORM omd._mark_rolled_back(p_module_instance_id);
    PERFORM omd._resume_begin(p_module_instance_id);
END
$undo_for_room$;

COMMENT ON FUNCTION omd._undo_for_room IS
'Undoes what the Module Instance, which has indicator R, has to undo, by the routine of the kind '
'of its Module, and sets its indicator to P. Errors: OM005, OM014, OM101. Locks: the instances to '
'undo, the rows; its Batch Instance FOR SHARE.';
