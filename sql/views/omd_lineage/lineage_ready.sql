-- What people read of the ready list. The rules stand in omd_lineage.ready_list, which rooms read.

CREATE OR REPLACE VIEW omd_report.lineage_ready AS
SELECT
    r.topic,
    r.is_ready,
    r.reason,
    r.upto,
    r.blocker,
    r.lag,
    r.processor,
    r.engine,
    r.state,
    r.hostid,
    r.attempts,
    r.topic_id,
    r.module_id,
    r.since,
    r.not_before,
    r.has_work,
    r.is_held
FROM omd_lineage.ready_list AS r;

COMMENT ON VIEW omd_report.lineage_ready IS
'Every topic with steps: whether it may take a step now, and what it waits for. The greatest lag '
'comes first. See docs/explanation/lineage.md.';
COMMENT ON COLUMN omd_report.lineage_ready.topic IS 'The topic.';
COMMENT ON COLUMN omd_report.lineage_ready.is_ready IS 'TRUE when the topic may take a step now.';
COMMENT ON COLUMN omd_report.lineage_ready.reason IS
'The topic is ready with RETRY (a planned block waits), ROLLBACK (an administrator wants a step to '
'be undone), RECALLED (a recall took back steps that are to be taken again), RESTATE (a range is '
'to be taken again), FULL (the last block was full), MAX_WAIT (it has waited long enough) and DUE. '
'It is not ready with INACTIVE, HELD (another step holds it), FAILED (it has failed too often in a '
'row), RUN_WINDOW (it is outside its hours), BACK_OFF (it waits after a failure, or for news '
'because there was nothing to do), NO_OFFSET (a dependency has no offset), DEPENDENCY (the blocker '
'has not moved), UNDO (rows of its base table are being taken back), AWAITED (rows of a table that '
'it reads are to come again after a recall) and REPEAT (its last step is too recent).';
COMMENT ON COLUMN omd_report.lineage_ready.upto IS
'The instant before which the topic may read; NULL when that is not known.';
COMMENT ON COLUMN omd_report.lineage_ready.blocker IS
'The dependency that limits upto; "no offset: …" names one that has no offset; with AWAITED what '
'is to come again; NULL when the topic has no dependency.';
COMMENT ON COLUMN omd_report.lineage_ready.lag IS
'How far the offset is behind the base table, in the time of the rows; NULL when the topic has '
'not begun, or when that is not known. Rows of its newest instant that can not be taken yet count '
'after a minute, by how long they have waited. Of a base table that is read by changes or by runs '
'it is the age of the oldest one that is not read, 0 when all are.';
COMMENT ON COLUMN omd_report.lineage_ready.processor IS
'How the topic is made: STEP, RELOAD or a procedure.';
COMMENT ON COLUMN omd_report.lineage_ready.engine IS 'POSTGRES or SPARK.';
COMMENT ON COLUMN omd_report.lineage_ready.state IS 'How the last step of the topic ended.';
COMMENT ON COLUMN omd_report.lineage_ready.hostid IS
'The holder of the topic; empty when there is none.';
COMMENT ON COLUMN omd_report.lineage_ready.attempts IS
'How many attempts at the planned block were made.';
COMMENT ON COLUMN omd_report.lineage_ready.topic_id IS 'The number of the topic.';
COMMENT ON COLUMN omd_report.lineage_ready.module_id IS 'Its Module.';
COMMENT ON COLUMN omd_report.lineage_ready.since IS
'Since when this holds, by the row that made it so: the last move of a dependency, or the last step'
' or failure; NULL when that is not known.';
COMMENT ON COLUMN omd_report.lineage_ready.not_before IS
'When its pause ends; NULL: it does not pause.';
COMMENT ON COLUMN omd_report.lineage_ready.has_work IS
'There is something to do: its base table has come further, a block is planned, or a step is to be '
'taken again.';
COMMENT ON COLUMN omd_report.lineage_ready.is_held IS 'A step holds it, and lives.';
