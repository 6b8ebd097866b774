-- V022: the run that a task has begun is found by the task. Applied once.

CREATE INDEX ix_batch_instance_task ON omd.batch_instance ((execution_context ->> 'task_id'))
WHERE execution_context ->> 'task_id' IS NOT NULL;
CREATE INDEX ix_module_instance_task ON omd.module_instance ((execution_context ->> 'task_id'))
WHERE execution_context ->> 'task_id' IS NOT NULL;
