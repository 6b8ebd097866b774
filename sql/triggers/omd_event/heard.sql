-- What is no run is heard by triggers, in the transaction that changes the state, so that its event
-- exists exactly when the change was committed.

CALL omd.put_trigger('omd.module_instance', 'trg_module_instance_event', $def$
    AFTER UPDATE OF rolled_back_by_module_instance_id ON {table}
    FOR EACH ROW
    WHEN (
        old.rolled_back_by_module_instance_id IS NULL
        AND new.rolled_back_by_module_instance_id IS NOT NULL
    )
    EXECUTE FUNCTION omd_event._hear_undo()
$def$);
COMMENT ON TRIGGER trg_module_instance_event ON omd.module_instance IS
'Writes the event that a run was undone.';

CALL omd.put_trigger('omd_delivery.delivery', 'trg_delivery_event', $def$
    AFTER UPDATE OF delivery_status ON {table}
    FOR EACH ROW
    WHEN (
        new.delivery_status IS DISTINCT FROM old.delivery_status
        AND (
            new.delivery_status IN ('ACCEPTED', 'REFUSED', 'PERSISTED', 'REVERTED', 'EXPORTED')
            OR new.delivery_status = 'PERSISTED WITH VIOLATED CONSTRAINTS'
        )
    )
    EXECUTE FUNCTION omd_event._hear_delivery()
$def$);
COMMENT ON TRIGGER trg_delivery_event ON omd_delivery.delivery IS
'Writes the event of its new status.';

CALL omd.put_trigger('omd_dispatch.task_death', 'trg_task_death_event', $def$
    BEFORE INSERT ON {table}
    FOR EACH ROW
    EXECUTE FUNCTION omd_event._hear_death()
$def$);
COMMENT ON TRIGGER trg_task_death_event ON omd_dispatch.task_death IS
'Writes the event of its death.';

CALL omd.put_trigger('omd_dispatch.task_schedule', 'trg_task_schedule_event', $def$
    AFTER UPDATE OF problem, lost_count, lost_in_row ON {table}
    FOR EACH ROW
    WHEN (
        new.lost_count > old.lost_count AND old.lost_in_row IS NULL
        OR old.lost_in_row IS NOT NULL AND new.lost_in_row IS NULL
        OR new.problem IS NOT NULL AND left(new.problem, 6) IS DISTINCT FROM left(old.problem, 6)
    )
    EXECUTE FUNCTION omd_event._hear_schedule()
$def$);
COMMENT ON TRIGGER trg_task_schedule_event ON omd_dispatch.task_schedule IS
'Writes the event that it has failed, and that it has recovered.';

CALL omd.put_trigger('omd_lake.table_commit', 'trg_table_commit_event', $def$
    AFTER INSERT ON {table}
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT
    EXECUTE FUNCTION omd_event._hear_lake()
$def$);
COMMENT ON TRIGGER trg_table_commit_event ON omd_lake.table_commit IS
'Writes the event of each commit.';
