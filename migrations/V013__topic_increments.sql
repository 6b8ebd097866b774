-- V013: a topic may replace rows by key, compute keys anew, and a source may promise how fresh it
-- is. Applied once.

ALTER TABLE omd_lineage.topic
ADD COLUMN merge_key text[],
ADD COLUMN recompute_key text[],
ADD COLUMN max_age interval,
ADD CONSTRAINT ck_topic_max_age CHECK (max_age > interval '0');
COMMENT ON COLUMN omd_lineage.topic.merge_key IS
'Rows of a block replace rows of the destination that have the same values in these columns. NULL: '
'rows are inserted.';
COMMENT ON COLUMN omd_lineage.topic.recompute_key IS
'A block names values of these columns, and the rows of the destination that have them are '
'computed anew from the whole base table. NULL: rows are inserted.';
COMMENT ON COLUMN omd_lineage.topic.max_age IS
'How old the newest row of the source may be. NULL: nothing is promised.';
