-- The kinds of process control itself.

INSERT INTO omd.module_kind (module_kind_code)
VALUES ('SQL'), ('JOB'), ('PART')
ON CONFLICT (module_kind_code) DO NOTHING;
