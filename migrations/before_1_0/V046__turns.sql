-- V046: dispatch: what was guarded by advisory locks, whose keys anybody can compute, is guarded by
-- rows and tables that only OMD can lock. A schedule tries an occurrence again, keeps what is left
-- of one with many tasks, and counts what it has lost. Applied once.

CREATE TABLE omd_dispatch.turn (
    part text NOT NULL,
    CONSTRAINT pk_turn PRIMARY KEY (part)
);
COMMENT ON TABLE omd_dispatch.turn IS
'What one session does at a time: it locks the row until it commits.';
COMMENT ON COLUMN omd_dispatch.turn.part IS
'SETTLEMENT and CLEANING: a part of a round of maintenance. SCHEDULES: the registration of a new '
'schedule.';
INSERT INTO omd_dispatch.turn (part) VALUES ('SETTLEMENT'), ('CLEANING'), ('SCHEDULES');

CREATE TABLE omd_dispatch.limited_lane (
    lane_key bigint NOT NULL,
    made_at timestamptz NOT NULL,
    CONSTRAINT pk_limited_lane PRIMARY KEY (lane_key)
);
CREATE INDEX ix_limited_lane_made_at ON omd_dispatch.limited_lane (made_at);
COMMENT ON TABLE omd_dispatch.limited_lane IS
'The lanes with a limit that claims have met. A claim locks the row while it takes from the lane. '
'Maintenance removes old rows, and a claim makes them again.';
COMMENT ON COLUMN omd_dispatch.limited_lane.lane_key IS 'A hash of the family and the lane.';
COMMENT ON COLUMN omd_dispatch.limited_lane.made_at IS 'When a claim has made it.';

COMMENT ON TABLE omd_dispatch.trigger_id_task_type IS
'Which group of workers starts the tasks of a type in the old model: here a worker is the trigger '
'too.';
COMMENT ON COLUMN omd_dispatch.trigger_id_task_type.trigger_id IS 'The group.';

ALTER TABLE omd_dispatch.backend_registration
ADD COLUMN first_token bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN omd_dispatch.backend_registration.first_token IS
'The last claim_token before it registered: claims under its name up to this one are those of a '
'former member.';

ALTER TABLE omd_dispatch.task_schedule
ADD COLUMN anchor_time timestamptz,
ADD COLUMN moved_time timestamptz,
ADD COLUMN attempt integer NOT NULL DEFAULT 0,
ADD COLUMN failed_time timestamptz,
ADD COLUMN retry_time timestamptz,
ADD COLUMN is_firing boolean NOT NULL DEFAULT FALSE,
ADD COLUMN lost_count bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN omd_dispatch.task_schedule.anchor_time IS
'The occurrence from which months are counted, so that the 31st comes again after a shorter month.';
COMMENT ON COLUMN omd_dispatch.task_schedule.moved_time IS
'The next_time that its last firing has written. When next_time is another one, it is the anchor.';
COMMENT ON COLUMN omd_dispatch.task_schedule.attempt IS
'How often the occurrence failed_time has failed.';
COMMENT ON COLUMN omd_dispatch.task_schedule.failed_time IS
'The occurrence that has failed last. It is tried again while it is next_time.';
COMMENT ON COLUMN omd_dispatch.task_schedule.retry_time IS
'When it is tried again; NULL: in the next round.';
COMMENT ON COLUMN omd_dispatch.task_schedule.is_firing IS
'A session reads its source. It stays when that session ends meanwhile.';
COMMENT ON COLUMN omd_dispatch.task_schedule.lost_count IS
'How many occurrences it has given up, since the next one was due.';

CREATE TABLE omd_dispatch.task_schedule_rest (
    schedule_code text NOT NULL,
    task_number bigint GENERATED ALWAYS AS IDENTITY,
    task jsonb NOT NULL,
    CONSTRAINT pk_task_schedule_rest PRIMARY KEY (schedule_code, task_number),
    CONSTRAINT fk_task_schedule_rest_schedule FOREIGN KEY (schedule_code)
    REFERENCES omd_dispatch.task_schedule (schedule_code) ON DELETE CASCADE
);
COMMENT ON TABLE omd_dispatch.task_schedule_rest IS
'Tasks of the occurrence next_time that its first rounds have left: one round creates 1,000.';
COMMENT ON COLUMN omd_dispatch.task_schedule_rest.schedule_code IS 'The schedule.';
COMMENT ON COLUMN omd_dispatch.task_schedule_rest.task_number IS 'Their order.';
COMMENT ON COLUMN omd_dispatch.task_schedule_rest.task IS 'The task, as create_tasks takes it.';

DO $do$
DECLARE
    v_family_code text;
    v_routine text;
BEGIN
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        EXECUTE format(
            $sql$
            CREATE TABLE omd_dispatch.%1$I (
                family_code text NOT NULL,
                CONSTRAINT %2$I PRIMARY KEY (family_code)
            );
            COMMENT ON TABLE omd_dispatch.%1$I IS %3$L;
            COMMENT ON COLUMN omd_dispatch.%1$I.family_code IS 'The family.';
            GRANT SELECT ON omd_dispatch.%1$I TO omd_reader
            $sql$,
            'task_model_' || lower(v_family_code),
            'pk_task_model_' || lower(v_family_code),
            format('The lock of the model of the family %s; it has no rows.', v_family_code)
        );
    END LOOP;
    FOREACH v_routine IN ARRAY ARRAY[
        '_fire_schedules', '_lock_due_schedules', '_move_schedule', '_lanes_to_claim'
    ] LOOP
        IF to_regproc('omd_dispatch.' || v_routine) IS NOT NULL THEN
            EXECUTE format(
                'COMMENT ON ROUTINE omd_dispatch.%1$I IS %3$L;'
                ' ALTER ROUTINE omd_dispatch.%1$I RENAME TO %2$I',
                v_routine, '_former' || v_routine, 'Retired.'
            );
        END IF;
    END LOOP;
END
$do$;
