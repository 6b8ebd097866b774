-- Keeps Modules that have run.

CREATE OR REPLACE TRIGGER trg_module_delete
BEFORE DELETE ON omd.module
FOR EACH ROW
EXECUTE FUNCTION omd._guard_module_delete();

COMMENT ON TRIGGER trg_module_delete ON omd.module IS 'Keeps a Module that has instances.';
