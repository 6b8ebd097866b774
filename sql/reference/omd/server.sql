-- What means something on one server only, and where the values of bare sequences stand. The order
-- of successes and the numbers of writes have no index of their own: the newest instances have the
-- highest, but for what an older one that still executes has drawn, and that is far less than what
-- is passed over.

INSERT INTO omd.server_bound (schema_name, table_name, column_name, on_change, row_condition)
VALUES
('omd', 'module_instance', 'backend_pid', 'CLEAR', 't.execution_status_code = ''E'''),
('omd', 'batch_instance', 'backend_pid', 'CLEAR', 't.execution_status_code = ''E'''),
('omd', 'undone_run', 'transaction_id', 'CLEAR', 't.undone_upto IS NULL'),
('omd', 'installation', 'database_oid', 'KEEP', NULL),
('omd', 'installation', 'table_oid', 'KEEP', NULL)
ON CONFLICT (schema_name, table_name, column_name) DO UPDATE SET
    on_change = excluded.on_change,
    row_condition = excluded.row_condition;

INSERT INTO omd.sequence_bound (
    sequence_schema, sequence_name, table_schema, table_name, column_name, row_condition
)
VALUES
(
    'omd', 'success_order', 'omd', 'module_instance', 'success_order',
    't.module_instance_id > '
    '(SELECT max(m.module_instance_id) - 1000000 FROM omd.module_instance AS m)'
),
(
    'omd', 'write_number', 'omd', 'write_ledger', 'write_number',
    't.module_instance_id > '
    '(SELECT max(m.module_instance_id) - 1000000 FROM omd.module_instance AS m)'
),
('omd', 'settled_server', 'omd', '', '', NULL)
ON CONFLICT (sequence_schema, sequence_name, table_schema, table_name, column_name)
DO UPDATE SET row_condition = excluded.row_condition;
