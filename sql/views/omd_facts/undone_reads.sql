-- A run whose window goes to the undo has read what was there after it.

CREATE OR REPLACE VIEW omd_report.undone_reads AS
SELECT
    r.module_code AS reader_code,
    r.module_instance_id,
    i.interface_code,
    c.change_id,
    c.undone_by_change_id,
    u.change_datetime AS undone_datetime
FROM omd_facts.change AS c
INNER JOIN omd_facts.change AS u ON c.undone_by_change_id = u.change_id
INNER JOIN omd_facts.interface AS i ON c.interface_id = i.interface_id
CROSS JOIN
    LATERAL omd.source_reads(
        'facts.' || i.interface_code, c.change_id, c.undone_by_change_id
    ) AS r;

COMMENT ON VIEW omd_report.undone_reads IS
'The runs that stand and have read a change that was undone later. R on the run, or a restatement, '
'makes their rows again.';
COMMENT ON COLUMN omd_report.undone_reads.reader_code IS 'The Module that has read it.';
COMMENT ON COLUMN omd_report.undone_reads.module_instance_id IS 'Its run.';
COMMENT ON COLUMN omd_report.undone_reads.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.undone_reads.change_id IS 'The change that was undone.';
COMMENT ON COLUMN omd_report.undone_reads.undone_by_change_id IS 'The change that undid it.';
COMMENT ON COLUMN omd_report.undone_reads.undone_datetime IS 'When that was made.';
