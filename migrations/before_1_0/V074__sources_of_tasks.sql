-- V074: dispatch: views whose rows become tasks are fired at once when there is news, and a type of
-- tasks may leave its retries to others. Applied once.

ALTER TABLE omd_dispatch.task_conf_type_desc
ADD COLUMN on_failure text NOT NULL DEFAULT 'RETRY',
ADD CONSTRAINT ck_task_conf_type_desc_on_failure CHECK (on_failure IN ('RETRY', 'END'));
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.on_failure IS
'RETRY: a failed or lost attempt is tried again, up to max_attempts. END: it ends the task, and '
'the back-off of the Module that its criterion CODE names decides when the work is due again.';

CREATE TABLE omd_dispatch.task_source (
    family_code text NOT NULL,
    task_type text NOT NULL,
    source text NOT NULL,
    every interval NOT NULL,
    listen text[] NOT NULL,
    inactive_indicator text NOT NULL,
    last_fired_at timestamptz,
    took interval,
    is_firing boolean NOT NULL DEFAULT FALSE,
    attempt integer NOT NULL DEFAULT 0,
    retry_time timestamptz,
    created_count bigint NOT NULL DEFAULT 0,
    problem text,
    CONSTRAINT pk_task_source PRIMARY KEY (family_code, task_type),
    CONSTRAINT fk_task_source_type FOREIGN KEY (family_code, task_type)
    REFERENCES omd_dispatch.task_conf_type_desc (family_code, task_type),
    CONSTRAINT ck_task_source_every CHECK (every > interval '0'),
    CONSTRAINT ck_task_source_inactive CHECK (inactive_indicator IN ('Y', 'N'))
) WITH (fillfactor = 50);
COMMENT ON TABLE omd_dispatch.task_source IS
'Views whose rows become tasks, one for a type of tasks.';
COMMENT ON COLUMN omd_dispatch.task_source.family_code IS 'The family of the tasks.';
COMMENT ON COLUMN omd_dispatch.task_source.task_type IS 'Their type.';
COMMENT ON COLUMN omd_dispatch.task_source.source IS
'The view; its columns are criteria in lower case, payload and priority.';
COMMENT ON COLUMN omd_dispatch.task_source.every IS
'How often it is read when nothing has happened.';
COMMENT ON COLUMN omd_dispatch.task_source.listen IS
'Channels; a notification on one of them has it read at once.';
COMMENT ON COLUMN omd_dispatch.task_source.inactive_indicator IS 'Y: it creates no tasks.';
COMMENT ON COLUMN omd_dispatch.task_source.last_fired_at IS
'When it was read last; NULL: it was not.';
COMMENT ON COLUMN omd_dispatch.task_source.took IS
'How long that took; it is read at most a tenth of the time. NULL: it was not read to its end.';
COMMENT ON COLUMN omd_dispatch.task_source.is_firing IS
'A session reads it. It stays when that session ends meanwhile.';
COMMENT ON COLUMN omd_dispatch.task_source.attempt IS
'How often in a row it has failed.';
COMMENT ON COLUMN omd_dispatch.task_source.retry_time IS
'When it is tried again after a failure; NULL: it has not failed.';
COMMENT ON COLUMN omd_dispatch.task_source.created_count IS 'How many tasks it has created.';
COMMENT ON COLUMN omd_dispatch.task_source.problem IS
'The error of its last firing; NULL when there was none.';

INSERT INTO omd_dispatch.turn (part) VALUES ('SOURCES');
COMMENT ON COLUMN omd_dispatch.turn.part IS
'SETTLEMENT and CLEANING: a part of a round of maintenance. SCHEDULES and SOURCES: the '
'registration of a new schedule, or of a source of tasks.';

DO $do$
BEGIN
    IF to_regproc('omd_dispatch.register_task_type') IS NOT NULL THEN
        COMMENT ON ROUTINE omd_dispatch.register_task_type IS 'Retired.';
        ALTER ROUTINE omd_dispatch.register_task_type RENAME TO _former_register_task_type;
    END IF;
END
$do$;
