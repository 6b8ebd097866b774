-- Changes of Batches and Modules are logged, but not their first registration, which the row itself
-- shows. Parameters, rollback templates and reference codes are logged from their first value on.

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

CREATE OR REPLACE TRIGGER trg_area_log
AFTER INSERT OR UPDATE OR DELETE ON omd.area
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_area_log ON omd.area IS
'Writes each change to the event log.';

CREATE OR REPLACE TRIGGER trg_table_type_log
AFTER INSERT OR UPDATE OR DELETE ON omd.table_type
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_table_type_log ON omd.table_type IS
'Writes each change to the event log.';

CREATE OR REPLACE TRIGGER trg_event_type_log
AFTER INSERT OR UPDATE OR DELETE ON omd.event_type
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_event_type_log ON omd.event_type IS
'Writes each change to the event log.';

CREATE OR REPLACE TRIGGER trg_frequency_log
AFTER INSERT OR UPDATE OR DELETE ON omd.frequency
FOR EACH ROW
EXECUTE FUNCTION omd._log_definition_edit();

COMMENT ON TRIGGER trg_frequency_log ON omd.frequency IS
'Writes each change to the event log.';
