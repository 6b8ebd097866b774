-- V103: dispatch: the deaths of tasks are told to rooms. Applied once.

CREATE TABLE omd_dispatch.task_death (
    family_code text NOT NULL,
    task_type text NOT NULL,
    task_id bigint NOT NULL,
    attempt integer,
    batch_instance_id bigint,
    module_instance_id bigint
);
COMMENT ON TABLE omd_dispatch.task_death IS
'Each task is inserted here when it is given up, for rooms that hear of it: the trigger of such a '
'room takes the row on, and none is kept.';
COMMENT ON COLUMN omd_dispatch.task_death.family_code IS 'The family of the task.';
COMMENT ON COLUMN omd_dispatch.task_death.task_type IS 'The type of the task.';
COMMENT ON COLUMN omd_dispatch.task_death.task_id IS 'The task.';
COMMENT ON COLUMN omd_dispatch.task_death.attempt IS 'How often it was tried.';
COMMENT ON COLUMN omd_dispatch.task_death.batch_instance_id IS
'The Batch Instance that it worked for; NULL: none.';
COMMENT ON COLUMN omd_dispatch.task_death.module_instance_id IS
'The Module Instance that it worked for; NULL: none.';
