-- V176: the newest instant of a source is taken when it is whole.
-- phase: expand

ALTER TABLE omd_lineage.topic ADD COLUMN take_ties interval;
COMMENT ON COLUMN omd_lineage.topic.take_ties IS
'Of a source: after this time its newest instant counts as whole, although nobody can say that it '
'is; NULL: never.';

ALTER TABLE omd_lineage.offsets ADD COLUMN is_whole boolean NOT NULL DEFAULT FALSE;
COMMENT ON COLUMN omd_lineage.offsets.is_whole IS
'TRUE: all rows of the instant of last are there, so who reads this table may take that instant. '
'FALSE: rows of it may still come.';

ALTER TABLE omd_lineage.offsets ADD COLUMN next_is_whole boolean NOT NULL DEFAULT FALSE;
COMMENT ON COLUMN omd_lineage.offsets.next_is_whole IS
'What is_whole will be when the planned block is done.';

ALTER TABLE omd_lineage.source_probe ADD COLUMN taken omd_lineage.row_position;
COMMENT ON COLUMN omd_lineage.source_probe.taken IS
'The newest position that was whole; NULL: none was.';

ALTER TABLE omd_lineage.source_probe ADD COLUMN taken_rows integer;
COMMENT ON COLUMN omd_lineage.source_probe.taken_rows IS
'How many rows of the instant of taken lie up to it, 10,001 at most; NULL: none was.';

ALTER TABLE omd_lineage.source_probe ADD COLUMN late_rows integer;
COMMENT ON COLUMN omd_lineage.source_probe.late_rows IS
'How many rows have come at or before a position that was taken; NULL: none.';

ALTER TABLE omd_lineage.source_probe ADD COLUMN waits_for text;
COMMENT ON COLUMN omd_lineage.source_probe.waits_for IS
'Why the newest instant is not whole; NULL: it is, or nobody has looked.';
