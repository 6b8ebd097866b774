-- The kind of the Modules of topics.

INSERT INTO omd.module_kind (
    module_kind_code, begin_routine, end_routine, keeps_settings, act_routine
)
VALUES (
    'TOPIC', 'omd_lineage.begin_run', 'omd_lineage.end_run', TRUE, 'omd_lineage.next_step'
)
ON CONFLICT (module_kind_code) DO UPDATE SET
    begin_routine = excluded.begin_routine,
    end_routine = excluded.end_routine,
    keeps_settings = excluded.keeps_settings,
    act_routine = excluded.act_routine;

INSERT INTO omd.room_retry (module_kind_code, routine)
VALUES ('TOPIC', 'omd_lineage.forget_attempts')
ON CONFLICT (module_kind_code) DO UPDATE SET routine = excluded.routine;
