-- The partition schemes, and the families that are shipped. The shipped rows are written when they
-- are missing, so that what an administrator has changed stays. The functions of every family are
-- made again. An installation passes over files that have not changed, so this one names the state
-- of procedures/omd_dispatch/generated, which gives the text of these functions: 04df6a8ca188. A
-- test says what it must be.

INSERT INTO omd_dispatch.task_conf_partition_scheme (scheme_code, period, scheme_description)
VALUES
('DAY_RING', interval '1 day', 'A partition for each UTC day, by its number modulo their count.'),
('WEEK_RING', interval '7 days', 'A partition for each UTC week, by its number modulo their count.')
ON CONFLICT (scheme_code) DO UPDATE SET
    period = excluded.period,
    scheme_description = excluded.scheme_description;

DO $do$
DECLARE
    v_family_code text;
    v_next_time timestamptz;
BEGIN
    IF NOT EXISTS (SELECT FROM omd_dispatch.task_conf_family_desc WHERE family_code = 'RUN') THEN
        CALL omd_dispatch.register_family(
            'RUN', '{"CODE": "text"}', ARRAY['CODE'], 'WEEK_RING', 8, interval '42 days'
        );
        CALL omd_dispatch.register_task_type('RUN', 'BATCH', 'BATCH');
        CALL omd_dispatch.register_task_type('RUN', 'MODULE', 'MODULE');
        CALL omd_dispatch.register_task_type(
            'RUN', 'TOPIC', 'PYTHON', 'omd.lineage.task:run', p_timeout => interval '1 day'
        );
    END IF;
    IF NOT EXISTS (SELECT FROM omd_dispatch.task_conf_family_desc WHERE family_code = 'CALL') THEN
        CALL omd_dispatch.register_family('CALL');
    END IF;
    -- What is ready in any room; that of a Module waits for its back-off, so no task is tried
    -- twice.
    IF NOT EXISTS (SELECT FROM omd_dispatch.task_conf_family_desc WHERE family_code = 'WORK') THEN
        CALL omd_dispatch.register_family(
            'WORK', '{"CODE": "text", "KIND": "text"}', ARRAY['CODE']
        );
        CALL omd_dispatch.register_task_type(
            'WORK', 'DATABASE', 'PYTHON', 'omd.work:perform', p_later_after => interval '5 seconds',
            p_on_failure => 'END'
        );
        CALL omd_dispatch.register_task_type(
            'WORK', 'SPARK', 'PYTHON', 'omd.work:perform', p_timeout => interval '7 days',
            p_later_after => interval '5 seconds', p_on_failure => 'END'
        );
        CALL omd_dispatch.register_source(
            'WORK', 'DATABASE', 'omd_report.work_tasks_database',
            p_listen => ARRAY['omd_delivery', 'omd_lineage'], p_inactive_indicator => 'Y'
        );
        CALL omd_dispatch.register_source(
            'WORK', 'SPARK', 'omd_report.work_tasks_spark',
            p_listen => ARRAY['omd_delivery', 'omd_lineage'], p_inactive_indicator => 'Y'
        );
    END IF;
    -- An upgrade deletes nothing by itself: who switches it on says what is kept. A family that has
    -- got criteria of its own can't have it.
    IF NOT EXISTS (
        SELECT FROM omd_dispatch.task_schedule AS s WHERE s.schedule_code = 'omd.purge'
    ) AND NOT EXISTS (
        SELECT FROM omd_dispatch.task_conf_family_model AS m WHERE m.family_code = 'CALL'
    ) THEN
        CALL omd_dispatch.register_task_type(
            'CALL', 'OMD_PURGE', 'SQL', 'omd_dispatch._purge_rooms', p_deliver_id => 'ADMIN'
        );
        CALL omd_dispatch.register_schedule(
            'omd.purge', 'CALL', 'OMD_PURGE', p_cron => '17 2 * * *',
            p_inactive_indicator => 'Y', p_next_time => v_next_time
        );
    END IF;
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        CALL omd_dispatch._make_claims(v_family_code);
    END LOOP;
    CALL omd_dispatch._make_insert();
END
$do$;
