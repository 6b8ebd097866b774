-- A job on Spark writes its rejects before it has succeeded, and they count with its success.

CREATE OR REPLACE VIEW omd_report.decision_reject_log AS
SELECT
    j.module_instance_id,
    s.stage_code,
    j.wave,
    j.link,
    j.arrival,
    j.code,
    j.text,
    j.key,
    j.cycle_no,
    j.cause_link,
    CASE WHEN omd.reads_rows() THEN j.record END AS record
FROM omd_decision.reject AS j
INNER JOIN omd_decision.run AS r ON j.module_instance_id = r.module_instance_id
INNER JOIN omd_decision.stage AS s ON r.stage_id = s.stage_id
WHERE r.invocations IS NOT NULL AND r.recall_id IS NULL;

COMMENT ON VIEW omd_report.decision_reject_log IS
'The rejected records of runs that count.';
COMMENT ON COLUMN omd_report.decision_reject_log.module_instance_id IS
'The run.';
COMMENT ON COLUMN omd_report.decision_reject_log.stage_code IS
'The stage.';
COMMENT ON COLUMN omd_report.decision_reject_log.wave IS
'The wave; NULL: the stage has none, or it is NULL.';
COMMENT ON COLUMN omd_report.decision_reject_log.link IS
'The link that the record came from.';
COMMENT ON COLUMN omd_report.decision_reject_log.arrival IS
'Its arrival number.';
COMMENT ON COLUMN omd_report.decision_reject_log.code IS
'ERRORCODE: LEFTOVER or KEY_MISMATCH.';
COMMENT ON COLUMN omd_report.decision_reject_log.text IS
'ERRORTEXT: why, in words.';
COMMENT ON COLUMN omd_report.decision_reject_log.key IS
'The key columns of the record; NULL in BATCH and on a buffer link.';
COMMENT ON COLUMN omd_report.decision_reject_log.cycle_no IS
'The attempt that failed; NULL: the record was in none.';
COMMENT ON COLUMN omd_report.decision_reject_log.cause_link IS
'The first link that had no record for that attempt; NULL: the record was in none.';
COMMENT ON COLUMN omd_report.decision_reject_log.record IS
'The record; NULL for who has not omd_data_reader.';
