-- OMD's own routines run as omd_owner, so only edits of offsets by hand are logged.

CALL omd.put_trigger('omd_lineage.topic', 'trg_topic_history', $def$
    AFTER INSERT OR UPDATE OR DELETE ON {table}
    FOR EACH ROW
    EXECUTE FUNCTION omd_lineage._log_topic_edit()
$def$);

COMMENT ON TRIGGER trg_topic_history ON omd_lineage.topic IS
'Keeps each definition in omd_lineage.topic_history.';

CALL omd.put_trigger('omd_lineage.offsets', 'trg_offsets_edit', $def$
    BEFORE UPDATE ON {table}
    FOR EACH ROW
    WHEN (current_user <> 'omd_owner')
    EXECUTE FUNCTION omd_lineage._log_offset_edit()
$def$);

COMMENT ON TRIGGER trg_offsets_edit ON omd_lineage.offsets IS 'Logs an edit by hand.';

CALL omd.put_trigger('omd_lineage.offsets', 'trg_offsets_back', $def$
    BEFORE UPDATE OF last ON {table}
    FOR EACH ROW
    WHEN (new.last < old.last)
    EXECUTE FUNCTION omd_lineage._forget_blocks()
$def$);

COMMENT ON TRIGGER trg_offsets_back ON omd_lineage.offsets IS
'Forgets a block to be taken again when the offset goes back to before it.';
