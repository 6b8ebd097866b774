-- ix_module_instance_executing and ix_module_instance_waiting together hold what the condition asks
-- for, so the cost grows with the open instances and not with history.

CREATE OR REPLACE VIEW omd.open_instance AS
SELECT
    mi.module_instance_id,
    mi.module_id,
    mi.execution_status_code,
    mi.next_run_indicator,
    mi.start_datetime,
    omd._awaits_rollback(
        mi.execution_status_code, mi.next_run_indicator, mi.rolled_back_by_module_instance_id
    ) AS is_rollback_pending
FROM omd.module_instance AS mi
WHERE
    omd._is_open(
        mi.execution_status_code, mi.next_run_indicator, mi.rolled_back_by_module_instance_id
    );

COMMENT ON VIEW omd.open_instance IS
'For rooms: the Module Instances that execute, wait for their rollback, or ask for the next run '
'to be skipped.';
COMMENT ON COLUMN omd.open_instance.module_instance_id IS 'The Module Instance.';
COMMENT ON COLUMN omd.open_instance.module_id IS 'Its Module.';
COMMENT ON COLUMN omd.open_instance.execution_status_code IS
'E: executing. S: succeeded. F: failed. A: aborted. C: skipped.';
COMMENT ON COLUMN omd.open_instance.next_run_indicator IS
'P: proceed. R: roll this instance back. C: skip the next run once.';
COMMENT ON COLUMN omd.open_instance.start_datetime IS 'When it was created.';
COMMENT ON COLUMN omd.open_instance.is_rollback_pending IS
'It has ended, and the next begin of its Module undoes it. omd.pending_rollback also names the '
'later instances that go with it.';
