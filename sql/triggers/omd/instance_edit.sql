-- These triggers guard the instance tables against edits by hand. OMD's own routines run as
-- omd_owner and pass. The triggers fire AFTER the update, because one BEFORE it would lock the row
-- once more on every run; the price is that a refused edit has already written its row, which is
-- then undone.

CALL omd.put_trigger('omd.batch_instance', 'trg_batch_instance_edit', $def$
    AFTER UPDATE ON {table}
    FOR EACH ROW
    WHEN (current_user <> 'omd_owner')
    EXECUTE FUNCTION omd._guard_instance_edit()
$def$);

COMMENT ON TRIGGER trg_batch_instance_edit ON omd.batch_instance IS
'Checks and logs an edit by hand.';

CALL omd.put_trigger('omd.module_instance', 'trg_module_instance_edit', $def$
    AFTER UPDATE ON {table}
    FOR EACH ROW
    WHEN (current_user <> 'omd_owner')
    EXECUTE FUNCTION omd._guard_instance_edit()
$def$);

COMMENT ON TRIGGER trg_module_instance_edit ON omd.module_instance IS
'Checks and logs an edit by hand.';
