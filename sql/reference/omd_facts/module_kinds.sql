-- The kinds of the Modules of interfaces and of agreements about exports.

INSERT INTO omd.module_kind (
    module_kind_code, begin_routine, end_routine, keeps_settings, act_routine
)
VALUES
('FACTS', 'omd_facts.begin_run', 'omd_facts.end_run', TRUE, 'omd_facts.next_load'),
('EXPORT', NULL, NULL, FALSE, 'omd_facts.next_export')
ON CONFLICT (module_kind_code) DO UPDATE SET
    begin_routine = excluded.begin_routine,
    end_routine = excluded.end_routine,
    keeps_settings = excluded.keeps_settings,
    act_routine = excluded.act_routine;

INSERT INTO omd.room_rollback (module_kind_code, routine)
VALUES ('EXPORT', 'omd_facts.undo_runs'), ('FACTS', 'omd_facts.undo_runs')
ON CONFLICT (module_kind_code) DO UPDATE SET routine = excluded.routine;
