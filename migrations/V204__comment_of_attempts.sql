-- V204: the column attempts names the one routine that forgets them. Applied once.

COMMENT ON COLUMN omd_lineage.offsets.attempts IS
'How many attempts at the planned block were made. After 10 the topic does not run until '
'omd.retry is called.';
