-- A reader that begins does not queue behind an undo that waits, so the undo closes the position
-- first, in a commit of its own. It opens it again when nothing comes of the undo; should the
-- session die, that ends by itself. In a transaction block nothing can be committed, and the undo
-- waits under readers that come. A procedure that commits can't set a search_path, so every name is
-- qualified.

CREATE OR REPLACE PROCEDURE omd_facts.undo(
    p_interface_code text,
    p_module_instance_id bigint,
    INOUT p_undone bigint[] DEFAULT NULL,
    p_revert_reason text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $undo$
DECLARE
    v_can_commit boolean;
    v_readers pg_catalog.text;
    v_sqlstate pg_catalog.text;
    v_message pg_catalog.text;
    v_detail pg_catalog.text;
    v_hint pg_catalog.text;
BEGIN
    CALL omd.ask_whether_to_commit(v_can_commit);
    p_undone := NULL;
    IF v_can_commit THEN
        PERFORM omd_facts._close_position(p_interface_code, p_module_instance_id);
        COMMIT;
    END IF;
    BEGIN
        CALL omd_facts._undo(
            p_interface_code, p_module_instance_id, p_revert_reason, p_undone, v_readers
        );
    EXCEPTION
        WHEN query_canceled OR assert_failure OR OTHERS THEN
            IF NOT v_can_commit THEN
                RAISE;
            END IF;
            GET STACKED DIAGNOSTICS
                v_sqlstate = RETURNED_SQLSTATE,
                v_message = MESSAGE_TEXT,
                v_detail = PG_EXCEPTION_DETAIL,
                v_hint = PG_EXCEPTION_HINT;
    END;
    IF v_sqlstate IS NULL AND v_readers IS NULL THEN
        RETURN;
    END IF;
    IF v_can_commit THEN
        PERFORM omd_facts._open_position(p_interface_code);
        COMMIT;
    END IF;
    IF v_sqlstate IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = v_sqlstate, MESSAGE = v_message, DETAIL = v_detail, HINT = v_hint;
    END IF;
    PERFORM omd.raise_error(
        'OM159',
        pg_catalog.jsonb_build_object('interface_code', p_interface_code, 'readers', v_readers)
    );
END
$undo$;

COMMENT ON PROCEDURE omd_facts.undo IS
'Undoes the load of the interface p_interface_code by p_module_instance_id and all later ones, '
'without loading anything: their items are queued again, so that revert_delivery may take their '
'deliveries back. p_revert_reason: revert the delivery of p_module_instance_id in the same '
'transaction, for this reason, before a loader takes it again; NULL: it stays in the queue. Those '
'who have read the rows are warned. Returns p_undone, the Module Instances that were undone; none '
'when it was undone before. Errors: OM106, OM004: it is no load of the interface; OM005: an '
'argument is NULL; OM013; OM014; OM031; OM034; OM130; OM133: the delivery can''t be reverted; '
'OM153: it can''t be undone; OM159: readers are at work for longer than a minute; OM251: the '
'interface is not deployed. It lets no new reader begin, and commits that where it may: call it '
'outside of a transaction block. Locks: the position of the interface, against readers; the '
'interface in both rooms, the Module row, the items, the rows. Call again when the answer was '
'lost.';
GRANT EXECUTE ON PROCEDURE omd_facts.undo TO omd_admin;
