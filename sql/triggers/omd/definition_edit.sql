-- Logs every change of what Batches and Modules are; the first registration is none. Parameters and
-- rollback templates are logged from their first value to their last.

CREATE OR REPLACE TRIGGER trg_batch_log
AFTER UPDATE OR DELETE ON omd.batch
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_batch_log ON omd.batch IS
'Writes each change to the event log.';

CREATE OR REPLACE TRIGGER trg_module_log
AFTER UPDATE OR DELETE ON omd.module
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_module_log ON omd.module IS
'Writes each change to the event log.';

CREATE OR REPLACE TRIGGER trg_batch_module_log
AFTER UPDATE OR DELETE ON omd.batch_module
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_batch_module_log ON omd.batch_module IS
'Writes each change to the event log.';

CREATE OR REPLACE TRIGGER trg_batch_hierarchy_log
AFTER UPDATE OR DELETE ON omd.batch_hierarchy
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_batch_hierarchy_log ON omd.batch_hierarchy IS
'Writes each change to the event log.';

CREATE OR REPLACE TRIGGER trg_parameter_log
AFTER INSERT OR UPDATE OR DELETE ON omd.parameter
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_parameter_log ON omd.parameter IS
'Writes each change to the event log.';

CREATE OR REPLACE TRIGGER trg_batch_parameter_log
AFTER INSERT OR UPDATE OR DELETE ON omd.batch_parameter
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_batch_parameter_log ON omd.batch_parameter IS
'Writes each change to the event log.';

CREATE OR REPLACE TRIGGER trg_module_parameter_log
AFTER INSERT OR UPDATE OR DELETE ON omd.module_parameter
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_module_parameter_log ON omd.module_parameter IS
'Writes each change to the event log.';

CREATE OR REPLACE TRIGGER trg_rollback_template_log
AFTER INSERT OR UPDATE OR DELETE ON omd.rollback_template
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_rollback_template_log ON omd.rollback_template IS
'Writes each change to the event log.';
