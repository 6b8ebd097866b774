-- What this room does for process control when the server has changed.

INSERT INTO omd.server_routine (schema_name, routine, skip_routine)
VALUES ('omd_event', '_hear_server', '_skip_event_numbers')
ON CONFLICT (schema_name) DO UPDATE SET
    routine = excluded.routine,
    skip_routine = excluded.skip_routine;

INSERT INTO omd.server_bound (schema_name, table_name, column_name, on_change)
VALUES ('omd_event', 'gap', 'bound', 'CLEAR')
ON CONFLICT (schema_name, table_name, column_name) DO UPDATE SET on_change = excluded.on_change;
