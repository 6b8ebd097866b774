-- The kind of the Modules of agreements, which workers perform.

INSERT INTO omd.module_kind (module_kind_code, is_batch)
VALUES ('DELIVERY', TRUE)
ON CONFLICT (module_kind_code) DO UPDATE SET is_batch = excluded.is_batch;
