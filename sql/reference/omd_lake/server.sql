-- A write has its number in omd.write_ledger only when it is committed.

INSERT INTO omd.sequence_bound (
    sequence_schema, sequence_name, table_schema, table_name, column_name, row_condition
)
VALUES
(
    'omd', 'write_number', 'omd_lake', 'write_folder', 'write_number',
    't.module_instance_id > '
    '(SELECT max(w.module_instance_id) - 1000000 FROM omd_lake.write_folder AS w)'
)
ON CONFLICT (sequence_schema, sequence_name, table_schema, table_name, column_name)
DO UPDATE SET row_condition = excluded.row_condition;
