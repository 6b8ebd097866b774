-- What an administrator changes writes an event. OMD's own routines run as omd_owner, and a worker
-- that leaves or dies is no edit.

CREATE OR REPLACE TRIGGER trg_task_conf_family_desc_edit
AFTER INSERT OR UPDATE OR DELETE ON omd_dispatch.task_conf_family_desc
FOR EACH ROW
EXECUTE FUNCTION omd_dispatch._log_definition_edit();

COMMENT ON TRIGGER trg_task_conf_family_desc_edit
ON omd_dispatch.task_conf_family_desc IS
'Logs each change.';

CREATE OR REPLACE TRIGGER trg_task_conf_family_model_edit
AFTER INSERT OR UPDATE OR DELETE ON omd_dispatch.task_conf_family_model
FOR EACH ROW
EXECUTE FUNCTION omd_dispatch._log_definition_edit();

COMMENT ON TRIGGER trg_task_conf_family_model_edit
ON omd_dispatch.task_conf_family_model IS
'Logs each change.';

CREATE OR REPLACE TRIGGER trg_task_conf_type_desc_edit
AFTER INSERT OR UPDATE OR DELETE ON omd_dispatch.task_conf_type_desc
FOR EACH ROW
EXECUTE FUNCTION omd_dispatch._log_definition_edit();

COMMENT ON TRIGGER trg_task_conf_type_desc_edit
ON omd_dispatch.task_conf_type_desc IS
'Logs each change.';

CREATE OR REPLACE TRIGGER trg_task_conf_custom_edit
AFTER INSERT OR UPDATE OR DELETE ON omd_dispatch.task_conf_custom
FOR EACH ROW
EXECUTE FUNCTION omd_dispatch._log_definition_edit();

COMMENT ON TRIGGER trg_task_conf_custom_edit
ON omd_dispatch.task_conf_custom IS
'Logs each change.';

CREATE OR REPLACE TRIGGER trg_task_conf_dict_edit
AFTER INSERT OR UPDATE OR DELETE ON omd_dispatch.task_conf_dict
FOR EACH ROW
EXECUTE FUNCTION omd_dispatch._log_definition_edit();

COMMENT ON TRIGGER trg_task_conf_dict_edit
ON omd_dispatch.task_conf_dict IS
'Logs each change.';

CREATE OR REPLACE TRIGGER trg_task_conf_search_allowed_edit
AFTER INSERT OR UPDATE OR DELETE ON omd_dispatch.task_conf_search_allowed
FOR EACH ROW
EXECUTE FUNCTION omd_dispatch._log_definition_edit();

COMMENT ON TRIGGER trg_task_conf_search_allowed_edit
ON omd_dispatch.task_conf_search_allowed IS
'Logs each change.';

CREATE OR REPLACE TRIGGER trg_task_schedule_edit
AFTER INSERT OR UPDATE OR DELETE ON omd_dispatch.task_schedule
FOR EACH ROW
EXECUTE FUNCTION omd_dispatch._log_definition_edit();

COMMENT ON TRIGGER trg_task_schedule_edit
ON omd_dispatch.task_schedule IS
'Logs each change.';

CREATE OR REPLACE TRIGGER trg_backend_registration_edit
AFTER DELETE ON omd_dispatch.backend_registration
FOR EACH ROW
WHEN (current_user <> 'omd_owner')
EXECUTE FUNCTION omd_dispatch._log_definition_edit();

COMMENT ON TRIGGER trg_backend_registration_edit
ON omd_dispatch.backend_registration IS
'Logs a removal by hand.';
