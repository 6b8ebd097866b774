-- The transaction that writes an interface is one of this server.

INSERT INTO omd.server_bound (schema_name, table_name, column_name, on_change)
VALUES ('omd_facts', 'interface', 'writer_transaction', 'CLEAR')
ON CONFLICT (schema_name, table_name, column_name) DO UPDATE SET on_change = excluded.on_change;
