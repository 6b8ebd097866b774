-- The kinds of process control itself. A Module of kind JOB, a program, is begun in the
-- database only to execute SQL that the caller gives.

INSERT INTO omd.module_kind (module_kind_code, begin_routine, end_routine, act_routine)
VALUES
('SQL', 'omd.begin_run', 'omd.end_run', 'omd.next_program'),
('JOB', 'omd.begin_run', 'omd.end_run', 'omd.next_program'),
('PART', NULL, NULL, NULL)
ON CONFLICT (module_kind_code) DO UPDATE SET
    begin_routine = excluded.begin_routine,
    end_routine = excluded.end_routine,
    act_routine = excluded.act_routine;
