-- One run may have read several that were undone; it is mended once.

CREATE OR REPLACE VIEW omd_report.undone_read_problems AS
SELECT
    'UNDONE_READ' AS problem_code,
    'WARNING' AS severity,
    'provenance' AS room,
    'MODULE_INSTANCE' AS object_kind,
    r.module_instance_id::text AS object_key,
    format('Module Instance %s of %s', r.module_instance_id, r.module_code) AS subject,
    min(r.undone_datetime) AS since,
    format(
        'It has read what was undone later: %s.', string_agg(DISTINCT w.text, ', ' ORDER BY w.text)
    ) AS text,
    format(
        'omd call set_next_run_indicator --next-run-indicator R --module-instance-id %s'
        ' && omd run %s',
        r.module_instance_id, omd.shell_argument(r.module_code)
    ) AS way_out
FROM omd_report.stale_runs AS r
LEFT JOIN LATERAL omd_facts.changes_of_runs(ARRAY[r.source_instance_id]) AS c ON TRUE
CROSS JOIN
    LATERAL (
        SELECT
            CASE
                WHEN c.change_id IS NOT NULL
                    THEN format(
                        'change %s of interface %s',
                        c.change_id, substr(c.source_code, length('facts.') + 1)
                    )
                ELSE format('Module Instance %s', r.source_instance_id)
            END AS text
    ) AS w
GROUP BY r.module_instance_id, r.module_code;

COMMENT ON VIEW omd_report.undone_read_problems IS
'For rooms: the runs that stand and have read what was undone later, as '
'omd_report.problems shows them.';
COMMENT ON COLUMN omd_report.undone_read_problems.problem_code IS
'UNDONE_READ: a run has read rows that were undone later.';
COMMENT ON COLUMN omd_report.undone_read_problems.severity IS 'WARNING.';
COMMENT ON COLUMN omd_report.undone_read_problems.room IS 'The room that says so.';
COMMENT ON COLUMN omd_report.undone_read_problems.object_kind IS 'MODULE_INSTANCE.';
COMMENT ON COLUMN omd_report.undone_read_problems.object_key IS 'The run.';
COMMENT ON COLUMN omd_report.undone_read_problems.subject IS 'What it is about, in words.';
COMMENT ON COLUMN omd_report.undone_read_problems.since IS
'When the first of it was undone.';
COMMENT ON COLUMN omd_report.undone_read_problems.text IS 'What it is.';
COMMENT ON COLUMN omd_report.undone_read_problems.way_out IS
'The commands that undo the run and take what it has read again.';
