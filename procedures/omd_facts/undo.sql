-- The rollback of process control does it, so that the runs are known as undone.

CREATE OR REPLACE PROCEDURE omd_facts.undo(
    p_interface_code text,
    p_module_instance_id bigint,
    INOUT p_undone bigint[] DEFAULT NULL
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
BEGIN
    PERFORM omd.require_read_committed();
    p_undone := '{}';
    PERFORM omd_delivery.hold_interface(p_interface_code);
    IF p_module_instance_id IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_module_instance_id'));
    ELSIF EXISTS (
        SELECT FROM omd_facts.load_log AS l
        WHERE l.module_instance_id = p_module_instance_id
            AND l.interface_id = v_interface.interface_id
            AND l.undone_by IS NOT NULL
    ) THEN
        RETURN;
    ELSIF NOT EXISTS (
        SELECT FROM omd_facts.load_log AS l
        WHERE l.module_instance_id = p_module_instance_id
            AND l.interface_id = v_interface.interface_id
    ) THEN
        PERFORM omd.raise_error(
            'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
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
END
$undo$;

COMMENT ON PROCEDURE omd_facts.undo IS
'Undoes the load of the interface p_interface_code by p_module_instance_id and all later ones, '
'without loading anything: their items are queued again, so that revert_delivery may take their '
'deliveries back. Returns p_undone, the Module Instances that were undone; none when it was '
'undone before. Errors: OM106, OM112, OM201, OM202, OM205, OM004: it is no load of the '
'interface; OM005: an argument is NULL; OM013; OM014; OM031; OM153: it can''t be undone; OM251: '
'the interface is not deployed. Locks: the interface in both rooms, the Module row, the items, '
'the rows. Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_facts.undo FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_facts.undo TO omd_admin;
