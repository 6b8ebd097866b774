-- The rollback of process control does it, so that the runs are known as undone. A loader takes the
-- items again at once, so an undo that is to be the way to a revert reverts in the same
-- transaction.

CREATE OR REPLACE PROCEDURE omd_facts.undo(
    p_interface_code text,
    p_module_instance_id bigint,
    INOUT p_undone bigint[] DEFAULT NULL,
    p_revert_reason text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $undo$
DECLARE
    v_interface omd_facts.interface := omd_facts._require_interface(p_interface_code);
    v_undoing_id bigint;
    v_executable text := 'omd_facts.undo';
    v_indicator text;
    v_load omd_facts.load_log;
BEGIN
    PERFORM omd.require_read_committed();
    p_undone := '{}';
    PERFORM omd_delivery.hold_interface(p_interface_code);
    IF p_module_instance_id IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_module_instance_id'));
    END IF;
    SELECT l.* INTO v_load FROM omd_facts.load_log AS l
    WHERE l.module_instance_id = p_module_instance_id
        AND l.interface_id = v_interface.interface_id;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    ELSIF v_load.delivery_id IS NULL AND p_revert_reason IS NOT NULL THEN
        PERFORM omd_facts._raise_not_undone(v_load, 'it was a resync, and reverts no delivery');
    ELSIF v_load.undone_by IS NOT NULL THEN
        PERFORM omd_facts._revert_undone(v_load, p_revert_reason);
        RETURN;
    END IF;
    CALL omd.set_next_run_indicator('R', p_module_instance_id => p_module_instance_id);
    CALL omd.begin_in_database_run(
        'facts.' || p_interface_code, NULL, v_executable, v_undoing_id, v_indicator
    );
    IF v_indicator <> 'P' THEN
        PERFORM omd.raise_error(
            'OM153',
            jsonb_build_object(
                'module_instance_id', p_module_instance_id,
                'problem', 'another session loads the interface, or its Module is inactive'
            )
        );
    END IF;
    CALL omd.module_success(v_undoing_id);
    p_undone := ARRAY(
        SELECT l.module_instance_id FROM omd_facts.load_log AS l
        WHERE l.undone_by = v_undoing_id
        ORDER BY l.module_instance_id
    );
    PERFORM omd_facts._revert_undone(v_load, p_revert_reason);
END
$undo$;

COMMENT ON PROCEDURE omd_facts.undo IS
'Undoes the load of the interface p_interface_code by p_module_instance_id and all later ones, '
'without loading anything: their items are queued again, so that revert_delivery may take their '
'deliveries back. p_revert_reason: revert the delivery of p_module_instance_id in the same '
'transaction, for this reason, before a loader takes it again; NULL: it stays in the queue. Those '
'who have read the rows are warned. Returns p_undone, the Module Instances that were undone; none '
'when it was undone before. Errors: OM106, OM112, OM201, OM202, OM205, OM004: it is no load of '
'the interface; OM005: an argument is NULL; OM013; OM014; OM031; OM034; OM130; OM133: the '
'delivery can''t be reverted; OM153: it can''t be undone; OM251: the interface is not deployed. '
'Locks: the interface in both rooms, the Module row, the items, the rows. Call again when the '
'answer was lost.';
REVOKE ALL ON PROCEDURE omd_facts.undo FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_facts.undo TO omd_admin;
