-- What is no run is heard by triggers, in the transaction that changes the state, so that its event
-- exists exactly when the change was committed.

CREATE OR REPLACE TRIGGER trg_module_instance_event
AFTER UPDATE OF rolled_back_by_module_instance_id ON omd.module_instance
FOR EACH ROW
WHEN (
    old.rolled_back_by_module_instance_id IS NULL
    AND new.rolled_back_by_module_instance_id IS NOT NULL
)
EXECUTE FUNCTION omd_event._hear_undo();
COMMENT ON TRIGGER trg_module_instance_event ON omd.module_instance IS
'Writes the event that a run was undone.';

CREATE OR REPLACE TRIGGER trg_delivery_event
AFTER UPDATE OF delivery_status ON omd_delivery.delivery
FOR EACH ROW
WHEN (
    new.delivery_status IS DISTINCT FROM old.delivery_status
    AND (
        new.delivery_status IN ('ACCEPTED', 'REFUSED', 'PERSISTED', 'REVERTED', 'EXPORTED')
        OR new.delivery_status = 'PERSISTED WITH VIOLATED CONSTRAINTS'
    )
)
EXECUTE FUNCTION omd_event._hear_delivery();
COMMENT ON TRIGGER trg_delivery_event ON omd_delivery.delivery IS
'Writes the event of its new status.';

CREATE OR REPLACE TRIGGER trg_task_death_event
BEFORE INSERT ON omd_dispatch.task_death
FOR EACH ROW
EXECUTE FUNCTION omd_event._hear_death();
COMMENT ON TRIGGER trg_task_death_event ON omd_dispatch.task_death IS
'Writes the event of its death.';

CREATE OR REPLACE TRIGGER trg_task_schedule_event
AFTER UPDATE OF problem, lost_count ON omd_dispatch.task_schedule
FOR EACH ROW
WHEN (
    new.lost_count > old.lost_count
    OR (new.problem IS NOT NULL AND new.problem IS DISTINCT FROM old.problem)
)
EXECUTE FUNCTION omd_event._hear_schedule();
COMMENT ON TRIGGER trg_task_schedule_event ON omd_dispatch.task_schedule IS
'Writes the event that it has failed.';

CREATE OR REPLACE TRIGGER trg_table_commit_event
AFTER INSERT ON omd_lake.table_commit
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT
EXECUTE FUNCTION omd_event._hear_lake();
COMMENT ON TRIGGER trg_table_commit_event ON omd_lake.table_commit IS
'Writes the event of each commit.';
