-- What an administrator changes writes an event.

CREATE OR REPLACE TRIGGER trg_task_source_edit
AFTER INSERT OR UPDATE OR DELETE ON omd_dispatch.task_source
FOR EACH ROW
EXECUTE FUNCTION omd_dispatch._log_definition_edit();

COMMENT ON TRIGGER trg_task_source_edit
ON omd_dispatch.task_source IS
'Logs each change.';
