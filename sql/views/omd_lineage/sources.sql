-- What depends on the time is found here and not by the probe: a source gets too old without one.
-- The offset may be ahead of the newest row that a probe has seen, since steps move it too.

CREATE OR REPLACE VIEW omd_report.sources AS
WITH
-- A source that is no topic is found by its name, which no topic_id looks like.
readers AS (
    SELECT
        coalesce(d.source_topic_id::text, d.depends_on) AS source_key,
        array_agg(t.topic ORDER BY t.topic) AS topics
    FROM omd_lineage.dependency AS d
    INNER JOIN omd_lineage.topic AS t ON d.topic_id = t.topic_id
    GROUP BY coalesce(d.source_topic_id::text, d.depends_on)
),

undone AS (
    SELECT
        r.source_code,
        format(
            'Rows from %s on were undone that %s have read. %s',
            min(coalesce(r.from_datetime, '-infinity')),
            string_agg(DISTINCT r.reader, ', ' ORDER BY r.reader),
            string_agg(DISTINCT r.way_out, ' ' ORDER BY r.way_out)
        ) AS problem
    FROM omd.standing_read AS r
    GROUP BY r.source_code
),

newest AS (
    SELECT
        s.source,
        s.topic_id,
        s.table_code,
        s.max_age,
        s.inactive_indicator = 'N' AS is_active,
        p.probed_at,
        p.probe_duration,
        CASE WHEN omd.reads_rows() THEN p.problem ELSE p.shown_problem END AS problem,
        p.ahead_pos,
        coalesce(p.is_read, TRUE) AS is_read,
        coalesce(p.null_rows, 0) AS null_rows,
        s.source_offset,
        CASE
            WHEN s.source_offset IN ('FACTS', 'RUNS')
                THEN (
                    SELECT ROW(k.pos, k.id)::omd_lineage.row_position
                    FROM omd.source_position AS k
                    WHERE k.table_code = s.table_code AND k.source_kind_code = s.source_offset
                    ORDER BY k.pos DESC
                    LIMIT 1
                )
            WHEN s.source_offset IN ('PROBE', 'TRIGGER', 'LAKE') AND o.last > p.newest THEN o.last
            WHEN p.newest IS NULL AND s.source_offset <> 'CLOCK' THEN o.last
            ELSE p.newest
        END AS position
    FROM omd_lineage.source_list AS s
    LEFT JOIN omd_lineage.source_probe AS p ON s.source = p.source
    LEFT JOIN omd_lineage.offsets AS o ON s.topic_id = o.topic_id
),

aged AS (
    SELECT
        n.*,
        -- A position may be an id alone, without a time.
        nullif((n.position).pos, '-infinity') AS newest_pos,
        (n.position).id AS newest_id,
        CASE
            WHEN isfinite((n.position).pos) THEN greatest(now() - (n.position).pos, interval '0')
        END AS lag
    FROM newest AS n
),

judged AS (
    SELECT
        a.*,
        a.is_active
        AND a.is_read
        AND a.max_age IS NOT NULL
        AND coalesce(a.lag > a.max_age, a.newest_id IS NULL) AS is_too_old
    FROM aged AS a
)

SELECT
    j.source,
    j.newest_pos,
    j.newest_id,
    j.lag,
    j.probed_at,
    j.probe_duration,
    j.max_age,
    nullif(
        concat_ws(
            ' ',
            CASE
                WHEN j.topic_id IS NULL AND j.source_offset IS NULL
                    THEN format(
                        'It is not registered, and %s waits for it.',
                        array_to_string(r.topics[1:3], ', ')
                    )
            END,
            CASE WHEN j.is_active THEN j.problem END,
            CASE
                WHEN j.is_active AND j.ahead_pos > now()
                    THEN format('It has a position ahead of the clock: %s.', j.ahead_pos)
            END,
            CASE
                WHEN j.is_too_old
                    THEN format(
                        'It is too old: its newest row %s, and may be %s old.',
                        coalesce('is of ' || j.newest_pos, 'does not exist'), j.max_age
                    )
            END,
            u.problem
        ),
        ''
    ) AS problem,
    j.is_too_old,
    j.is_too_old OR (j.is_active AND NOT j.is_read) AS is_silent,
    j.null_rows,
    coalesce(r.topics, '{}') AS topics
FROM judged AS j
LEFT JOIN readers AS r ON coalesce(j.topic_id::text, j.source) = r.source_key
LEFT JOIN undone AS u ON j.table_code = u.source_code
ORDER BY j.source;

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
