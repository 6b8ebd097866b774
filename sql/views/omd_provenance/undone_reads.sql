-- What is stale, with the change of facts that was undone, where it is one.

CREATE OR REPLACE VIEW omd_report.undone_reads AS
SELECT DISTINCT
    s.module_code AS reader_code,
    s.module_instance_id,
    substr(c.source_code, length('facts.') + 1) AS interface_code,
    c.change_id,
    c.undone_by_change_id,
    s.undone_datetime
FROM omd_report.stale_runs AS s
LEFT JOIN LATERAL omd_facts.changes_of_runs(ARRAY[s.source_instance_id]) AS c ON TRUE;

COMMENT ON VIEW omd_report.undone_reads IS
'The runs that stand and have read what was undone later, as omd_report.stale_runs has them. R on '
'the run, or a restatement, makes their rows again.';
COMMENT ON COLUMN omd_report.undone_reads.reader_code IS 'The Module that has read it.';
COMMENT ON COLUMN omd_report.undone_reads.module_instance_id IS 'Its run.';
COMMENT ON COLUMN omd_report.undone_reads.interface_code IS
'The interface; NULL: what was undone is no change of facts.';
COMMENT ON COLUMN omd_report.undone_reads.change_id IS
'The change that was undone; NULL: it is none of facts.';
COMMENT ON COLUMN omd_report.undone_reads.undone_by_change_id IS
'The change that undid it; NULL: it is none of facts.';
COMMENT ON COLUMN omd_report.undone_reads.undone_datetime IS
'When it was undone; NULL: it is still to be.';
