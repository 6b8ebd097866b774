-- The rollback of process control does it, so that the runs are known as undone. A loader takes the
-- items again at once, so an undo that is to be the way to a revert reverts in the same
-- transaction. The position is taken before any other lock: who waits for readers stops nobody
-- else.

CREATE OR REPLACE PROCEDURE omd_facts._undo(
    p_interface_code text,
    p_module_instance_id bigint,
    p_revert_reason text,
    INOUT p_undone bigint[] DEFAULT NULL,
    INOUT p_readers text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $_undo$
DECLARE
    v_interface omd_facts.interface := omd_facts._require_interface(p_interface_code);
    v_undoing_id bigint;
    v_reason text;
    v_indicator text;
    v_load omd_facts.load_log := omd_facts._require_load(
        v_interface.interface_id, p_module_instance_id
    );
    v_taken record;
BEGIN
    PERFORM omd.require_read_committed();
    p_undone := '{}';
    p_readers := NULL;
    IF v_load.undone_by IS NULL THEN
        v_taken := omd_facts._take_interface(v_interface.interface_id, interval '1 minute');
        IF NOT v_taken.p_is_taken THEN
            p_readers := coalesce(v_taken.p_readers, 'a transaction');
            RETURN;
        END IF;
    END IF;
    -- One that was undone before is not taken again, but its delivery may be reverted.
    PERFORM omd_delivery.hold_interface(p_interface_code);
    PERFORM FROM omd_facts.interface AS i
    WHERE i.interface_id = v_interface.interface_id
    FOR NO KEY UPDATE;
    v_load := omd_facts._require_load(v_interface.interface_id, p_module_instance_id);
    IF v_load.delivery_id IS NULL AND p_revert_reason IS NOT NULL THEN
        PERFORM omd_facts._raise_not_undone(v_load, 'it was a resync, and reverts no delivery');
    ELSIF v_load.undone_by IS NOT NULL THEN
        PERFORM omd_facts._revert_undone(v_load, p_revert_reason);
        RETURN;
    END IF;
    CALL omd.set_next_run_indicator('R', p_module_instance_id => p_module_instance_id);
    CALL omd.begin_for_room(
        'facts.' || p_interface_code, NULL, NULL, NULL, 'omd_facts.undo', v_undoing_id,
        v_indicator, v_reason
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
    PERFORM omd.write_event(
        0, 0, 4, 'UNDO',
        format(
            '%s: the loads of interface %s by Module Instances %s were undone',
            omd.editor(), p_interface_code, array_to_string(p_undone, ', ')
        )
    );
    PERFORM omd_facts._revert_undone(v_load, p_revert_reason);
END
$_undo$;

COMMENT ON PROCEDURE omd_facts._undo IS
'Does what undo promises, when no reader is at work any more; it waits for a minute at most, and '
'p_readers has the readers then, NULL: it is done. p_interface_code, p_module_instance_id, '
'p_revert_reason and p_undone are those of undo. Errors: those of undo. Locks: those of undo.';
GRANT EXECUTE ON PROCEDURE omd_facts._undo TO omd_admin;
