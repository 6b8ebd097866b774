-- V075: a failure that a run of a task has counted is not counted again when the task ends. Applied
-- once.

ALTER TABLE omd.module_state ADD COLUMN last_claim_token bigint;
COMMENT ON COLUMN omd.module_state.last_claim_token IS
'The claim of the task that has failed last; NULL: no task has.';
