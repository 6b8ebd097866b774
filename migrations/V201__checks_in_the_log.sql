-- V201: lineage: the log has the rows that a check of a transform has found. Applied once.

COMMENT ON COLUMN omd_lineage.log.nulls IS
'For each column of the destination with NULLs among the rows written, how many; and for each '
'check of a transform (check_…), for how many rows it was false.';
