-- A run that a task begins carries its claim; the runs below it have a caller that was let begin.

CALL omd.put_trigger('omd.batch_instance', 'trg_batch_instance_claim', $def$
    BEFORE INSERT ON {table}
    FOR EACH ROW
    WHEN (
        new.execution_context ->> 'task_id' ~ '^[0-9]{1,18}$'
        AND new.execution_context ->> 'claim_token' ~ '^[0-9]{1,18}$'
        AND new.parent_batch_instance_id = 0
    )
    EXECUTE FUNCTION omd_dispatch._fence_run()
$def$);

COMMENT ON TRIGGER trg_batch_instance_claim ON omd.batch_instance IS
'Refuses a run for a task whose claim has ended.';

CALL omd.put_trigger('omd.module_instance', 'trg_module_instance_claim', $def$
    BEFORE INSERT ON {table}
    FOR EACH ROW
    WHEN (
        new.execution_context ->> 'task_id' ~ '^[0-9]{1,18}$'
        AND new.execution_context ->> 'claim_token' ~ '^[0-9]{1,18}$'
        AND new.batch_instance_id = 0
    )
    EXECUTE FUNCTION omd_dispatch._fence_run()
$def$);

COMMENT ON TRIGGER trg_module_instance_claim ON omd.module_instance IS
'Refuses a run for a task whose claim has ended.';
