-- The kinds of objects that a person acts on.

INSERT INTO omd_web.object_kind (object_kind, title, view_name, key_column, path)
VALUES
('MODULE', 'Module', 'omd_report.module_list', 'module_code', '/module/{key}'),
('BATCH', 'Batch', 'omd_report.batch_list', 'batch_code', '/batch/{key}'),
(
    'MODULE_INSTANCE', 'Run of a Module', 'omd_report.module_execution_log',
    'module_instance_id', '/run/module/{key}'
),
(
    'BATCH_INSTANCE', 'Run of a Batch', 'omd_report.batch_execution_log',
    'batch_instance_id', '/run/batch/{key}'
),
-- Tasks lie in a table per family, so a function finds one.
('TASK', 'Task', 'omd_dispatch.explain_task', 'task_id', '/task/{key}'),
(
    'SUSPENSION', 'Suspension', 'omd_report.dispatch_suspensions', 'suspension_id',
    '/queue?suspension={key}'
),
(
    'SCHEDULE', 'Schedule', 'omd_report.dispatch_schedules', 'schedule_code',
    '/queue?schedule={key}'
),
('TASK_TYPE', 'Type of tasks', 'omd_web.task_type', 'task_type_key', '/queue?type={key}'),
('TOPIC', 'Topic', 'omd_web.topic', 'topic', '/graph?of={key}'),
('DELIVERY', 'Delivery', 'omd_report.delivery_log', 'delivery_id', '/delivery/{key}'),
('ARRIVAL', 'Arrival', 'omd_report.arrivals', 'arrival_id', '/deliveries?arrival={key}'),
('INTERFACE', 'Interface', 'omd_report.facts_state', 'interface_code', '/graph?of={key}'),
('EXPORT', 'Export', 'omd_report.facts_exports', 'delivery_id', '/delivery/{key}'),
('RULESET', 'Ruleset', 'omd_web.ruleset', 'ruleset_code', '/graph?of={key}'),
('RECALL', 'Recall', 'omd_report.recalls', 'recall_id', '/recall/{key}')
ON CONFLICT (object_kind) DO UPDATE SET
    title = excluded.title,
    view_name = excluded.view_name,
    key_column = excluded.key_column,
    path = excluded.path,
    is_data = excluded.is_data;
