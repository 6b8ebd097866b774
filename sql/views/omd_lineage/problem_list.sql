-- Who has read rows that were undone is a problem of the reader.

CREATE OR REPLACE VIEW omd_lineage.problem_list AS
SELECT
    CASE WHEN s.is_stale THEN 'SOURCE_STALE' ELSE 'SOURCE_PROBLEM' END AS problem_code,
    'WARNING' AS severity,
    'lineage' AS room,
    'SOURCE' AS object_kind,
    s.source AS object_key,
    'source ' || s.source AS subject,
    CASE WHEN s.is_too_old THEN s.newest_pos + s.max_age END AS since,
    concat_ws(' ', s.unregistered, s.shown_problem, s.odd_age) AS text,
    CASE
        WHEN s.unregistered IS NOT NULL
            THEN 'omd call omd_lineage.register_topic --topic ' || omd.shell_argument(s.source)
        WHEN s.is_too_old AND s.source_offset = 'HAND'
            THEN format(
                'omd call omd_lineage.set_offset --topic %s --pos INSTANT',
                omd.shell_argument(s.source)
            )
        ELSE 'CALL omd_lineage.probe_sources();'
    END AS way_out
FROM (
    SELECT
        o.*,
        -- A source of which something else is wrong may be old because of that.
        o.is_too_old AND o.unregistered IS NULL AND o.shown_problem IS NULL AS is_stale
    FROM omd_lineage.source_state AS o
) AS s
WHERE
    s.unregistered IS NOT NULL
    OR s.shown_problem IS NOT NULL
    OR s.odd_age IS NOT NULL
UNION ALL
SELECT
    'NEWEST_WAITS' AS problem_code,
    'WARNING' AS severity,
    'lineage' AS room,
    'SOURCE' AS object_kind,
    s.source AS object_key,
    'source ' || s.source AS subject,
    s.waiting_since AS since,
    s.newest_waits AS text,
    format(
        'CALL omd_lineage.register_topic(%L, p_take_ties => %L);', s.source, '1 minute'
    ) AS way_out
FROM omd_lineage.source_state AS s
WHERE s.newest_waits IS NOT NULL;

COMMENT ON VIEW omd_lineage.problem_list IS
'For rooms: the sources with which something is wrong, as omd_report.problems shows them.';
COMMENT ON COLUMN omd_lineage.problem_list.problem_code IS
'SOURCE_STALE: its newest row is older than its max_age, and nothing else is wrong with it. '
'NEWEST_WAITS: its newest rows have not been taken for a minute, since others may still come. '
'SOURCE_PROBLEM: anything else.';
COMMENT ON COLUMN omd_lineage.problem_list.severity IS 'WARNING.';
COMMENT ON COLUMN omd_lineage.problem_list.room IS 'The room that says so.';
COMMENT ON COLUMN omd_lineage.problem_list.object_kind IS 'SOURCE.';
COMMENT ON COLUMN omd_lineage.problem_list.object_key IS 'The source.';
COMMENT ON COLUMN omd_lineage.problem_list.subject IS 'What it is about, in words.';
COMMENT ON COLUMN omd_lineage.problem_list.since IS
'Since when it has been too old, or its newest rows have waited; NULL when that is not known.';
COMMENT ON COLUMN omd_lineage.problem_list.text IS 'What is wrong, without values of rows.';
COMMENT ON COLUMN omd_lineage.problem_list.way_out IS
'The command that mends it, or with which it is looked at again when it is mended.';
