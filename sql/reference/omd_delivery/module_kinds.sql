-- The kind of the Modules of agreements, which workers perform.

INSERT INTO omd.module_kind (module_kind_code) VALUES ('DELIVERY')
ON CONFLICT (module_kind_code) DO NOTHING;
