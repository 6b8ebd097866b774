-- What depends on the time is found here and not by the probe: a source gets too old without one.
-- The offset may be ahead of the newest row that a probe has seen, since steps move it too.

CREATE OR REPLACE VIEW omd_lineage.source_state AS
WITH
-- A source that is no topic is found by its name, which no topic_id looks like. Who does not ask
-- for the topics, or for what was undone, does not pay for them.
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
        p.shown_problem,
        p.ahead_pos,
        coalesce(p.is_read, TRUE) AS is_read,
        coalesce(p.null_rows, 0) AS null_rows,
        s.source_offset,
        coalesce(o.is_whole, FALSE) AS is_whole,
        p.waits_for,
        o.waiting_since,
        o.last_ts,
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
    CASE
        WHEN j.topic_id IS NULL AND j.source_offset IS NULL
            THEN format(
                'It is not registered, and %s waits for it.',
                (
                    SELECT string_agg(w.topic, ', ' ORDER BY w.topic)
                    FROM (
                        SELECT t.topic
                        FROM omd_lineage.dependency AS d
                        INNER JOIN omd_lineage.topic AS t ON d.topic_id = t.topic_id
                        WHERE
                            d.table_code = j.table_code
                            AND d.depends_on = j.source
                            AND d.source_topic_id IS NULL
                        ORDER BY t.topic
                        LIMIT 3
                    ) AS w
                )
            )
    END AS unregistered,
    CASE WHEN j.is_active THEN j.problem END AS probe_problem,
    CASE WHEN j.is_active THEN j.shown_problem END AS shown_problem,
    nullif(
        concat_ws(
            ' ',
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
            END
        ),
        ''
    ) AS odd_age,
    u.problem AS undone,
    j.source_offset,
    j.is_too_old,
    j.is_too_old OR (j.is_active AND NOT j.is_read) AS is_silent,
    j.null_rows,
    coalesce(r.topics, '{}') AS topics,
    j.is_whole,
    -- Another row has come in a minute where a source is not quiet. A reload has read all rows.
    CASE
        WHEN
            j.is_active
            AND j.is_read
            AND j.source_offset IN ('PROBE', 'TRIGGER')
            AND NOT j.is_whole
            AND j.newest_pos >= j.last_ts
            AND j.waiting_since < now() - interval '1 minute'
            AND EXISTS (
                SELECT FROM omd_lineage.dependency AS d
                INNER JOIN omd_lineage.topic AS t ON d.topic_id = t.topic_id
                WHERE
                    d.source_topic_id = j.topic_id
                    AND t.processor <> 'RELOAD'
                    AND t.inactive_indicator = 'N'
            )
            THEN
                format(
                    'Its newest rows, of %s, have waited since %s%s.',
                    j.newest_pos, date_trunc('second', j.waiting_since), ': ' || j.waits_for
                )
    END AS newest_waits,
    j.waiting_since
FROM judged AS j
LEFT JOIN readers AS r ON coalesce(j.topic_id::text, j.source) = r.source_key
LEFT JOIN undone AS u ON j.table_code = u.source_code;

COMMENT ON VIEW omd_lineage.source_state IS
'For rooms: every source, and each thing that may be wrong with it.';
COMMENT ON COLUMN omd_lineage.source_state.source IS 'The topic, or the name in depends_on.';
COMMENT ON COLUMN omd_lineage.source_state.newest_pos IS 'The pos of its newest row; NULL: none.';
COMMENT ON COLUMN omd_lineage.source_state.newest_id IS 'The id of its newest row; NULL: none.';
COMMENT ON COLUMN omd_lineage.source_state.lag IS 'How old that row is; NULL: not known.';
COMMENT ON COLUMN omd_lineage.source_state.probed_at IS 'When it was probed last; NULL: never.';
COMMENT ON COLUMN omd_lineage.source_state.probe_duration IS
'How long that took; NULL: it never was probed.';
COMMENT ON COLUMN omd_lineage.source_state.max_age IS
'How old its newest row may be; NULL: nothing is promised.';
COMMENT ON COLUMN omd_lineage.source_state.unregistered IS
'That nobody has registered it; NULL: somebody has.';
COMMENT ON COLUMN omd_lineage.source_state.probe_problem IS
'What its last probe met, as the caller may see it; NULL: nothing.';
COMMENT ON COLUMN omd_lineage.source_state.shown_problem IS
'What its last probe met, without values of rows; NULL: nothing.';
COMMENT ON COLUMN omd_lineage.source_state.odd_age IS
'That it is too old, or ahead of the clock; NULL: neither.';
COMMENT ON COLUMN omd_lineage.source_state.undone IS
'Who has read rows of it that were undone; NULL: nobody has.';
COMMENT ON COLUMN omd_lineage.source_state.source_offset IS
'Where its offset comes from; NULL: nobody makes it.';
COMMENT ON COLUMN omd_lineage.source_state.is_too_old IS
'Its newest row is older than max_age.';
COMMENT ON COLUMN omd_lineage.source_state.is_silent IS
'It is too old, or its last probe has failed.';
COMMENT ON COLUMN omd_lineage.source_state.null_rows IS 'How many of its rows have no pos.';
COMMENT ON COLUMN omd_lineage.source_state.topics IS 'The topics that depend on it.';
COMMENT ON COLUMN omd_lineage.source_state.is_whole IS
'All rows of its newest instant are there, so topics take it.';
COMMENT ON COLUMN omd_lineage.source_state.newest_waits IS
'That its newest rows have not been taken for a minute, and for whom they wait; NULL: they have.';
COMMENT ON COLUMN omd_lineage.source_state.waiting_since IS
'When its offset moved last; NULL: it has none.';
