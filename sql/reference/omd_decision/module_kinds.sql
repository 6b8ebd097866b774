-- The kind of the Modules of stages.

INSERT INTO omd.module_kind (module_kind_code, begin_routine, end_routine, act_routine)
VALUES (
    'STAGE', 'omd_decision.begin_run', 'omd_decision.end_run', 'omd_decision.next_stage'
)
ON CONFLICT (module_kind_code) DO UPDATE SET
    begin_routine = excluded.begin_routine,
    end_routine = excluded.end_routine,
    act_routine = excluded.act_routine;
