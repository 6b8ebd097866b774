-- V089: decision: what a stage kept of a run that a recall took back stays, and a run says whose
-- windows it took again. Applied once.

ALTER TABLE omd_decision.run
ADD COLUMN supersedes bigint[],
ADD COLUMN recall_id bigint;
COMMENT ON COLUMN omd_decision.run.supersedes IS
'The runs whose windows it took again after a recall; NULL: it took a new one.';
COMMENT ON COLUMN omd_decision.run.recall_id IS
'The recall that took it back, so it does not count; NULL: none did.';
CREATE INDEX ix_run_recalled ON omd_decision.run (recall_id, stage_id)
WHERE recall_id IS NOT NULL;
CREATE INDEX ix_run_supersedes ON omd_decision.run (stage_id) WHERE supersedes IS NOT NULL;
