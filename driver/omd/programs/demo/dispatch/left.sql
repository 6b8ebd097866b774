-- Creates the schema and the family of tasks of the demo of dispatch, and ends what an earlier demo
-- has left. It changes only a schema that the demo itself has created.

DO $demo$
BEGIN
    IF to_regnamespace('night') IS NULL THEN
        CREATE SCHEMA night;
        COMMENT ON SCHEMA night IS 'Created by omd demo dispatch';
    ELSIF obj_description(to_regnamespace('night'), 'pg_namespace')
        IS DISTINCT FROM 'Created by omd demo dispatch'
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'duplicate_schema',
            MESSAGE = 'The schema night exists and is not the demo''s.',
            HINT = 'Run the demo in another database: omd demo dispatch --dsn …';
    END IF;
END
$demo$;

-- The demo has a family of tasks and a group of workers of its own, so that it touches no task and
-- no worker of yours. Its tasks have one criterion, CODE, which names what they run.
SET ROLE omd_admin;
CALL omd_dispatch.register_family(
    'NIGHT', '{"CODE": "text"}', p_key_criteria => ARRAY['CODE'], p_partition_count => 16
);
RESET ROLE;

-- Even a demo that was interrupted. The claims of its workers are settled behind it, by
-- omd_dispatch.maintain, which is called outside of a transaction block.
DO $demo$
DECLARE
    v_left record;
BEGIN
    FOR v_left IN
        SELECT s.schedule_code
        FROM omd_report.dispatch_schedules AS s
        WHERE s.family_code = 'NIGHT'
    LOOP
        CALL omd_dispatch.remove_schedule(v_left.schedule_code);
    END LOOP;
    DELETE FROM omd_dispatch.backend_registration WHERE backend_type = 'NIGHT';
    FOR v_left IN
        SELECT mi.module_instance_id
        FROM omd.module_instance AS mi
        INNER JOIN omd.module AS m USING (module_id)
        WHERE m.module_code IN (
                'm_night_stage', 'm_night_flight', 'night.departure', 'night.delay_day'
            )
            AND mi.execution_status_code = 'E'
    LOOP
        CALL omd.module_failure(v_left.module_instance_id, 'the demo was interrupted');
    END LOOP;
    FOR v_left IN
        SELECT bi.batch_instance_id
        FROM omd.batch_instance AS bi
        INNER JOIN omd.batch AS b USING (batch_id)
        WHERE b.batch_code = 'b_night' AND bi.execution_status_code = 'E'
    LOOP
        CALL omd.batch_failure(v_left.batch_instance_id, 'the demo was interrupted');
    END LOOP;
END
$demo$;
