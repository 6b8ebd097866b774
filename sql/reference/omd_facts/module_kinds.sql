-- The kinds of the Modules of interfaces and of agreements about exports.

INSERT INTO omd.module_kind (module_kind_code, keeps_settings)
VALUES ('FACTS', TRUE), ('EXPORT', FALSE)
ON CONFLICT (module_kind_code) DO UPDATE SET keeps_settings = excluded.keeps_settings;
