-- phase: expand
-- V246: tasks are marked in parts, and a suspension keeps how far it has come. Applied once.

ALTER TABLE omd_dispatch.task_suspension
ADD COLUMN IF NOT EXISTS looked_lane text COLLATE "C",
ADD COLUMN IF NOT EXISTS looked_priority smallint,
ADD COLUMN IF NOT EXISTS looked_time timestamptz,
ADD COLUMN IF NOT EXISTS looked_task_id bigint,
ADD COLUMN IF NOT EXISTS is_passed_over boolean NOT NULL DEFAULT FALSE;
COMMENT ON COLUMN omd_dispatch.task_suspension.looked_lane IS
'Pending tasks are looked at in the order of their index: the lane of the last one; NULL: the next '
'one is the first.';
COMMENT ON COLUMN omd_dispatch.task_suspension.looked_priority IS 'Its priority.';
COMMENT ON COLUMN omd_dispatch.task_suspension.looked_time IS 'Its execution time.';
COMMENT ON COLUMN omd_dispatch.task_suspension.looked_task_id IS 'Its number.';
COMMENT ON COLUMN omd_dispatch.task_suspension.is_passed_over IS
'On this way a task was locked that is to be marked, so the way is gone once more.';
