-- The kind of the Modules of stages. The Modules of a former version get it.

INSERT INTO omd.module_kind (module_kind_code, begin_routine, end_routine)
VALUES ('STAGE', 'omd_decision.begin_run', 'omd_decision.end_run')
ON CONFLICT (module_kind_code) DO UPDATE SET
    begin_routine = excluded.begin_routine,
    end_routine = excluded.end_routine;

DO $do$
BEGIN
    PERFORM
        omd_decision._set_engine(s.stage_id),
        omd_decision._save_window(s.stage_id)
    FROM omd_decision.stage AS s
    WHERE s.module_id IS NOT NULL
    ORDER BY s.module_id;
END
$do$;
