-- phase: expand
-- V171: a schedule counts what it loses while its source fails. Applied once.

ALTER TABLE omd_dispatch.task_schedule ADD COLUMN IF NOT EXISTS lost_in_row bigint;
COMMENT ON COLUMN omd_dispatch.task_schedule.lost_in_row IS
'How many occurrences it has given up since its source was read last without an error; NULL: none.';
