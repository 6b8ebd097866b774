-- It shows each violating row once, with all its constraints.

CREATE OR REPLACE VIEW omd_report.delivery_quarantine AS
SELECT
    s.delivery_id,
    s.attempt,
    e.entity_code,
    s.record_key,
    s.origin,
    s.constraint_codes,
    s.is_skipped,
    s.raw,
    s.staged_from
FROM omd_delivery.sample AS s
INNER JOIN omd_delivery.entity AS e ON s.entity_id = e.entity_id;

COMMENT ON VIEW omd_report.delivery_quarantine IS
'Samples of the rows that violate a constraint, as they were staged.';
COMMENT ON COLUMN omd_report.delivery_quarantine.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_report.delivery_quarantine.attempt IS 'The number of the run.';
COMMENT ON COLUMN omd_report.delivery_quarantine.entity_code IS 'The entity.';
COMMENT ON COLUMN omd_report.delivery_quarantine.record_key IS
'The key of the row; NULL where it can''t be read.';
COMMENT ON COLUMN omd_report.delivery_quarantine.origin IS
'DELIVERED, or EXISTING: the delivery would break it.';
COMMENT ON COLUMN omd_report.delivery_quarantine.constraint_codes IS
'The constraints that it violates.';
COMMENT ON COLUMN omd_report.delivery_quarantine.is_skipped IS 'It is skipped.';
COMMENT ON COLUMN omd_report.delivery_quarantine.raw IS
'The row as it was staged; NULL for an existing row.';
COMMENT ON COLUMN omd_report.delivery_quarantine.staged_from IS
'The file or table that it was staged from; NULL where it is not known.';
