-- What may be wrong with a source stands in omd_lineage.source_state; here it is one text.

CREATE OR REPLACE VIEW omd_report.sources AS
SELECT
    s.source,
    s.newest_pos,
    s.newest_id,
    s.lag,
    s.probed_at,
    s.probe_duration,
    s.max_age,
    nullif(
        concat_ws(
            ' ',
            s.unregistered,
            s.probe_problem,
            s.odd_age,
            s.undone,
            s.newest_waits
        ),
        ''
    ) AS problem,
    s.is_too_old,
    s.is_silent,
    s.null_rows,
    s.topics,
    s.is_whole
FROM omd_lineage.source_state AS s
ORDER BY s.source;

COMMENT ON VIEW omd_report.sources IS
'Every source, that is, every topic without a processor and every name in depends_on that is no '
'topic: its newest row, its last probe, and what is wrong with it. See '
'docs/explanation/lineage.md.';
COMMENT ON COLUMN omd_report.sources.source IS
'The name of the topic, or the name in depends_on.';
COMMENT ON COLUMN omd_report.sources.newest_pos IS
'The newest row that was seen and is not ahead of the clock, or what was reported of it: its pos; '
'NULL when there is none.';
COMMENT ON COLUMN omd_report.sources.newest_id IS
'The newest row that was seen, or what was reported of it: its id; NULL when there is none.';
COMMENT ON COLUMN omd_report.sources.lag IS
'How old the newest row is, by its pos; NULL when that is not known.';
COMMENT ON COLUMN omd_report.sources.probed_at IS
'When it was probed last; NULL when it never was.';
COMMENT ON COLUMN omd_report.sources.probe_duration IS
'How long the last probe took; NULL when it never was probed.';
COMMENT ON COLUMN omd_report.sources.max_age IS
'How old its newest row may be; NULL when nothing is promised.';
COMMENT ON COLUMN omd_report.sources.problem IS
'What is wrong with it, in plain sentences; NULL when nothing is.';
COMMENT ON COLUMN omd_report.sources.is_too_old IS
'TRUE when its newest row is older than max_age.';
COMMENT ON COLUMN omd_report.sources.is_silent IS
'TRUE when nothing new is known of it: it is too old, or its last probe has failed.';
COMMENT ON COLUMN omd_report.sources.null_rows IS
'How many of its rows have no pos, and so no position; 1000 stands for that many or more.';
COMMENT ON COLUMN omd_report.sources.topics IS 'The topics that depend on it.';
COMMENT ON COLUMN omd_report.sources.is_whole IS
'TRUE: all rows of its newest instant are there, so topics take them; FALSE: rows of that instant '
'may still come, or nobody has looked.';
