-- A Module that has run stays, since its instances refer to it and tell where rows came from.

CREATE OR REPLACE TRIGGER trg_module_delete
BEFORE DELETE ON omd.module
FOR EACH ROW
EXECUTE FUNCTION omd._guard_module_delete();

COMMENT ON TRIGGER trg_module_delete ON omd.module IS
'Refuses to delete a Module that has instances.';
