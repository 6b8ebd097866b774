-- By the OID of a table that is gone its new name is found, and elsewhere another table has it.

INSERT INTO omd.server_bound (schema_name, table_name, column_name, on_change)
VALUES ('omd_lineage', 'source_probe', 'table_oid', 'CLEAR')
ON CONFLICT (schema_name, table_name, column_name) DO UPDATE SET on_change = excluded.on_change;
