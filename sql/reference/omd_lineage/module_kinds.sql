-- The kind of the Modules of topics.

INSERT INTO omd.module_kind (module_kind_code, keeps_settings) VALUES ('TOPIC', TRUE)
ON CONFLICT (module_kind_code) DO UPDATE SET keeps_settings = excluded.keeps_settings;
