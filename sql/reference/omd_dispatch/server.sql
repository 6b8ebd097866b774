-- Of the claim tokens those are fences that a worker holds; each Module keeps the last one that has
-- touched it.

INSERT INTO omd.sequence_bound (
    sequence_schema, sequence_name, table_schema, table_name, column_name, row_condition
)
VALUES
('omd_dispatch', 'task_id', 'omd_dispatch', 'task\_data\_%', 'task_id', NULL),
('omd_dispatch', 'task_id', 'omd_dispatch', 'mutex', 'task_id', NULL),
('omd_dispatch', 'task_id', 'omd_dispatch', 'task_death', 'task_id', NULL),
(
    'omd_dispatch', 'claim_token', 'omd_dispatch', 'task\_data\_%', 'claim_token',
    't.status = ''CLAIMED'''
),
('omd_dispatch', 'claim_token', 'omd_dispatch', 'backend_registration', 'first_token', NULL),
('omd_dispatch', 'claim_token', 'omd', 'module_state', 'last_claim_token', NULL),
('omd_dispatch', 'due_again', 'omd_dispatch', '', '', NULL)
ON CONFLICT (sequence_schema, sequence_name, table_schema, table_name, column_name)
DO UPDATE SET row_condition = excluded.row_condition;
