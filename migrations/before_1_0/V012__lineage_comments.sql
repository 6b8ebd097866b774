-- V012: better words for comments of released migrations, which are never edited. It changes no
-- data, and its locks wait for no run.

COMMENT ON COLUMN omd_lineage.topic.max_wait IS
'After this time without progress a step no longer waits for dependencies that lag; NULL: it '
'always waits.';
COMMENT ON COLUMN omd_lineage.topic.advance_when_quiet IS
'When there is nothing new the offset moves on, so that topics that depend on this one need not '
'wait.';
COMMENT ON COLUMN omd_lineage.topic_history.changed_by IS 'The role that changed the definition.';
COMMENT ON TABLE omd_lineage.dependency IS
'The resolved depends_on of each topic: one row per topic that makes the table, or one row '
'without such a topic when there is none.';
COMMENT ON COLUMN omd_lineage.dependency.topic_id IS 'The topic that depends.';
COMMENT ON COLUMN omd_lineage.offsets.attempts IS
'How many attempts at the planned block were made. After 10 the topic does not run until '
'omd_lineage.retry is called.';
COMMENT ON COLUMN omd_lineage.offsets.plan_number IS
'The fence. It grows with each claim, and a step can commit only under the number that it got.';
COMMENT ON COLUMN omd_lineage.offsets.hostid IS
'The holder of the topic; empty when there is none.';
COMMENT ON COLUMN omd_lineage.offsets.waited_for IS
'The dependency that the planned block does not wait for, since max_wait is over.';
COMMENT ON TABLE omd_lineage.seen_position IS
'The newest row of each base table, as seen at a moment. A writer that began later writes behind '
'that row, so a plan may go up to it while the writer is at work.';
COMMENT ON COLUMN omd_lineage.seen_position.seen_at IS
'When it was seen: a moment just after the look.';
