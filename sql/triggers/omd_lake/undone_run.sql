-- Whatever confirms a rollback, the instance is marked in one place: this trigger sees it.

CALL omd.put_trigger('omd.module_instance', 'trg_module_instance_lake', $def$
    AFTER UPDATE OF rolled_back_by_module_instance_id ON {table}
    FOR EACH ROW
    WHEN (
        old.rolled_back_by_module_instance_id IS NULL
        AND new.rolled_back_by_module_instance_id IS NOT NULL
    )
    EXECUTE FUNCTION omd_lake._require_undo()
$def$);

COMMENT ON TRIGGER trg_module_instance_lake ON omd.module_instance IS
'Refuses to mark a run as undone whose commits of lake tables nobody has taken back.';
