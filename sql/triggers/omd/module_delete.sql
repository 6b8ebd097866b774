-- A Module that has run stays, since its instances refer to it and tell where rows came from.

CALL omd.put_trigger('omd.module', 'trg_module_delete', $def$
    BEFORE DELETE ON {table}
    FOR EACH ROW
    EXECUTE FUNCTION omd._guard_module_delete()
$def$);

COMMENT ON TRIGGER trg_module_delete ON omd.module IS
'Refuses to delete a Module that has instances.';
