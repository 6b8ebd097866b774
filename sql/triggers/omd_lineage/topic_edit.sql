-- OMD's own routines run as omd_owner, so only edits of offsets by hand are logged.

CREATE OR REPLACE TRIGGER trg_topic_history
AFTER INSERT OR UPDATE OR DELETE ON omd_lineage.topic
FOR EACH ROW
EXECUTE FUNCTION omd_lineage._log_topic_edit();

COMMENT ON TRIGGER trg_topic_history ON omd_lineage.topic IS
'Keeps each definition in omd_lineage.topic_history.';

CREATE OR REPLACE TRIGGER trg_offsets_edit
BEFORE UPDATE ON omd_lineage.offsets
FOR EACH ROW
WHEN (current_user <> 'omd_owner')
EXECUTE FUNCTION omd_lineage._log_offset_edit();

COMMENT ON TRIGGER trg_offsets_edit ON omd_lineage.offsets IS 'Logs an edit by hand.';

CREATE OR REPLACE TRIGGER trg_offsets_back
BEFORE UPDATE OF last ON omd_lineage.offsets
FOR EACH ROW
WHEN (new.last < old.last)
EXECUTE FUNCTION omd_lineage._forget_blocks();

COMMENT ON TRIGGER trg_offsets_back ON omd_lineage.offsets IS
'Forgets a block to be taken again when the offset goes back to before it.';
