-- A rollback marks the instances that it undoes, whoever has begun it and wherever it was executed.

CALL omd.put_trigger('omd.module_instance', 'trg_module_instance_decision', $def$
    AFTER UPDATE OF rolled_back_by_module_instance_id ON {table}
    FOR EACH ROW
    WHEN (
        old.rolled_back_by_module_instance_id IS NULL
        AND new.rolled_back_by_module_instance_id IS NOT NULL
    )
    EXECUTE FUNCTION omd_decision._forget_run()
$def$);

COMMENT ON TRIGGER trg_module_instance_decision ON omd.module_instance IS
'Forgets what a stage has kept of a run that is rolled back.';
