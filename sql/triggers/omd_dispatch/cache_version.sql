-- A worker keeps the configuration that it has read, and compares the versions at each claim.

CREATE OR REPLACE TRIGGER trg_task_conf_family_desc_cache_version
AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON omd_dispatch.task_conf_family_desc
FOR EACH STATEMENT
EXECUTE FUNCTION omd_dispatch._raise_cache_version();

COMMENT ON TRIGGER trg_task_conf_family_desc_cache_version
ON omd_dispatch.task_conf_family_desc IS
'Raises the version of the table.';

CREATE OR REPLACE TRIGGER trg_task_conf_family_model_cache_version
AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON omd_dispatch.task_conf_family_model
FOR EACH STATEMENT
EXECUTE FUNCTION omd_dispatch._raise_cache_version();

COMMENT ON TRIGGER trg_task_conf_family_model_cache_version
ON omd_dispatch.task_conf_family_model IS
'Raises the version of the table.';

CREATE OR REPLACE TRIGGER trg_task_conf_type_desc_cache_version
AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON omd_dispatch.task_conf_type_desc
FOR EACH STATEMENT
EXECUTE FUNCTION omd_dispatch._raise_cache_version();

COMMENT ON TRIGGER trg_task_conf_type_desc_cache_version
ON omd_dispatch.task_conf_type_desc IS
'Raises the version of the table.';

CREATE OR REPLACE TRIGGER trg_task_conf_custom_cache_version
AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON omd_dispatch.task_conf_custom
FOR EACH STATEMENT
EXECUTE FUNCTION omd_dispatch._raise_cache_version();

COMMENT ON TRIGGER trg_task_conf_custom_cache_version
ON omd_dispatch.task_conf_custom IS
'Raises the version of the table.';

CREATE OR REPLACE TRIGGER trg_task_conf_dict_cache_version
AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON omd_dispatch.task_conf_dict
FOR EACH STATEMENT
EXECUTE FUNCTION omd_dispatch._raise_cache_version();

COMMENT ON TRIGGER trg_task_conf_dict_cache_version
ON omd_dispatch.task_conf_dict IS
'Raises the version of the table.';

CREATE OR REPLACE TRIGGER trg_task_conf_search_allowed_cache_version
AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON omd_dispatch.task_conf_search_allowed
FOR EACH STATEMENT
EXECUTE FUNCTION omd_dispatch._raise_cache_version();

COMMENT ON TRIGGER trg_task_conf_search_allowed_cache_version
ON omd_dispatch.task_conf_search_allowed IS
'Raises the version of the table.';

CREATE OR REPLACE TRIGGER trg_task_migration_status_cache_version
AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON omd_dispatch.task_migration_status
FOR EACH STATEMENT
EXECUTE FUNCTION omd_dispatch._raise_cache_version();

COMMENT ON TRIGGER trg_task_migration_status_cache_version
ON omd_dispatch.task_migration_status IS
'Raises the version of the table.';
