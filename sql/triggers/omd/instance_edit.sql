-- These triggers guard the instance tables against edits by hand. OMD's own routines run as
-- omd_owner and pass. The triggers fire AFTER the update, because one BEFORE it would lock the row
-- once more on every run; the price is that a refused edit has already written its row, which is
-- then undone.

CREATE OR REPLACE TRIGGER trg_batch_instance_edit
AFTER UPDATE ON omd.batch_instance
FOR EACH ROW
WHEN (current_user <> 'omd_owner')
EXECUTE FUNCTION omd._guard_instance_edit();

COMMENT ON TRIGGER trg_batch_instance_edit ON omd.batch_instance IS
'Checks and logs an edit by hand.';

CREATE OR REPLACE TRIGGER trg_module_instance_edit
AFTER UPDATE ON omd.module_instance
FOR EACH ROW
WHEN (current_user <> 'omd_owner')
EXECUTE FUNCTION omd._guard_instance_edit();

COMMENT ON TRIGGER trg_module_instance_edit ON omd.module_instance IS
'Checks and logs an edit by hand.';
