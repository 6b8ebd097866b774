-- What means something on one server only.

INSERT INTO omd.server_bound (schema_name, table_name, column_name, on_change)
VALUES ('omd_event', 'gap', 'bound', 'CLEAR')
ON CONFLICT (schema_name, table_name, column_name) DO UPDATE SET on_change = excluded.on_change;
