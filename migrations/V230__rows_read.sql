-- phase: expand
-- V230: the ledger of writes keeps how many rows an attempt has read. Applied once.

ALTER TABLE omd.write_ledger ADD COLUMN IF NOT EXISTS read_count bigint;
COMMENT ON COLUMN omd.write_ledger.read_count IS
'Rows that the attempt has read before it committed. Another attempt of the partition that reads '
'another number is refused. NULL: its writer does not say.';
