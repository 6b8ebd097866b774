-- What an administrator changes writes an event.

CALL omd.put_trigger('omd_dispatch.task_source', 'trg_task_source_edit', $def$
    AFTER INSERT OR UPDATE OR DELETE ON {table}
    FOR EACH ROW
    EXECUTE FUNCTION omd_dispatch._log_definition_edit()
$def$);

COMMENT ON TRIGGER trg_task_source_edit
ON omd_dispatch.task_source IS
'Logs each change.';
