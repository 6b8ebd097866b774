-- phase: concurrent
-- V162: an index of the runs that wait for a skip or a rollback. Applied once.

CREATE INDEX CONCURRENTLY IF NOT EXISTS ix_module_instance_waiting ON omd.module_instance (
    module_id, module_instance_id
) WHERE (
    next_run_indicator = 'C'
    OR (
        (execution_status_code = 'F' OR next_run_indicator = 'R')
        AND rolled_back_by_module_instance_id IS NULL
    )
);
