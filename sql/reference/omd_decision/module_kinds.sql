-- The kind of the Modules of stages.

INSERT INTO omd.module_kind (module_kind_code) VALUES ('STAGE')
ON CONFLICT (module_kind_code) DO NOTHING;
