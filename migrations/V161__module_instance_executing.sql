-- phase: concurrent
-- V161: an index of the runs that execute. Applied once.

CREATE INDEX CONCURRENTLY IF NOT EXISTS ix_module_instance_executing ON omd.module_instance (
    module_id, module_instance_id
) WHERE (execution_status_code = 'E');
