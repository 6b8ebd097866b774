-- Stages that start by themselves, and whether their window could move. Positions and open runs
-- say it, so that nobody looks into a table. What other sessions are writing is found out by the
-- begin, and who found nothing pauses.

CREATE OR REPLACE VIEW omd_decision.stage_work AS
WITH found AS (
    SELECT
        s.module_id,
        s.start_code,
        s.window_code,
        u.start_datetime AS undo_since,
        w.end_id AS read_id,
        n.oldest,
        n.newest_id,
        n.is_closed,
        n.closed_source,
        g.noted_datetime AS recalled_since,
        y.waits_for AS awaited,
        n.oldest + s.window_delay AS news_due,
        coalesce(r.start_datetime + s.start_every, s.defined_at) AS every_due
    FROM (
        SELECT
            a.*,
            v.defined_at
        FROM omd_decision.stage AS a
        INNER JOIN omd_decision.stage_version AS v
            ON a.stage_id = v.stage_id AND a.version = v.version
        WHERE
            a.start_code IS NOT NULL
            OR a.module_id IN (
                SELECT b.module_id FROM omd.open_window AS b
            )
    ) AS s
    LEFT JOIN (
        SELECT
            b.module_id,
            max(b.noted_datetime) AS noted_datetime
        FROM omd.open_window AS b
        GROUP BY b.module_id
    ) AS g ON s.module_id = g.module_id
    LEFT JOIN omd_decision.awaiting_stages AS y ON s.stage_id = y.stage_id
    LEFT JOIN (
        SELECT
            o.module_id,
            min(o.start_datetime) AS start_datetime
        FROM omd.open_instance AS o
        WHERE o.is_rollback_pending
        GROUP BY o.module_id
    ) AS u ON s.module_id = u.module_id
    LEFT JOIN LATERAL omd.last_window(s.module_id) AS w ON s.window_code IS NOT NULL
    LEFT JOIN LATERAL (
        SELECT
            min(
                omd.next_position(
                    p.table_code,
                    b.pos,
                    b.id
                )
            ) AS oldest,
            max(p.id) FILTER (WHERE s.window_code = 'CHANGES') AS newest_id,
            bool_or(p.is_closed AND s.window_code = 'CHANGES') AS is_closed,
            min(p.source_code) FILTER (WHERE p.is_closed) AS closed_source
        FROM omd_decision.stage_source AS t
        INNER JOIN omd.source_position AS p ON t.table_code = p.table_code
        CROSS JOIN
            LATERAL (
                SELECT
                    CASE
                        WHEN
                            p.source_kind_code <> 'FACTS'
                            OR coalesce(w.source_code, p.source_code) = p.source_code
                            THEN coalesce(w.end_value, '-infinity')
                        ELSE '-infinity'
                    END AS pos,
                    CASE
                        WHEN s.window_code = 'CHANGES' AND w.source_code = p.source_code
                            THEN w.end_id
                        WHEN s.window_code = 'CHANGES' AND w.end_value IS NULL
                            THEN -9223372036854775808
                        ELSE 9223372036854775807
                    END AS id
            ) AS b
        WHERE
            t.stage_id = s.stage_id
            AND p.pos > '-infinity'
            AND (p.pos, p.id) > (b.pos, b.id)
    ) AS n ON TRUE
    LEFT JOIN LATERAL (
        SELECT mi.start_datetime
        FROM omd.module_instance AS mi
        WHERE
            s.start_code = 'EVERY'
            -- Not =, with which the planner could walk the primary key past other Modules.
            AND mi.module_id >= s.module_id
            AND mi.module_id <= s.module_id
            AND mi.execution_status_code <> 'A'
        ORDER BY mi.module_id DESC, mi.module_instance_id DESC
        LIMIT 1
    ) AS r ON TRUE
),

said AS (
    SELECT
        f.*,
        o.who,
        CASE
            WHEN f.awaited IS NOT NULL THEN 'AWAITED'
            WHEN f.undo_since IS NOT NULL THEN 'ROLLBACK'
            WHEN f.recalled_since IS NOT NULL THEN 'RECALLED'
            WHEN
                f.oldest IS NULL AND (f.start_code = 'NEWS' OR f.window_code = 'CHANGES')
                THEN 'IDLE'
            WHEN f.is_closed THEN 'UNDO'
            WHEN f.start_code = 'EVERY' AND f.every_due > now() THEN 'REPEAT'
            WHEN f.start_code = 'EVERY' THEN 'EVERY'
            WHEN f.news_due > now() THEN 'REPEAT'
            WHEN o.who IS NOT NULL THEN 'OPEN_RUN'
            ELSE 'NEWS'
        END AS what
    FROM found AS f
    LEFT JOIN LATERAL (
        SELECT
            format(
                'Module Instance %s of %s', i.module_instance_id, m.module_code
            ) AS who
        FROM omd_decision.stage AS s
        INNER JOIN omd_decision.stage_source AS t ON s.stage_id = t.stage_id
        INNER JOIN omd.source_position AS p ON t.table_code = p.table_code
        INNER JOIN omd.open_instance AS i ON p.source_code = 'runs.' || i.module_id
        INNER JOIN omd.module AS m ON i.module_id = m.module_id
        WHERE
            s.module_id = f.module_id
            AND f.window_code = 'COLUMN'
            AND f.start_code = 'NEWS'
            AND (i.execution_status_code = 'E' OR i.is_rollback_pending)
            AND i.start_datetime <= f.oldest
        ORDER BY i.start_datetime
        LIMIT 1
    ) AS o ON TRUE
)

SELECT
    d.module_id,
    CASE
        WHEN d.what IN ('ROLLBACK', 'RECALLED', 'EVERY', 'NEWS') THEN 'READY'
        WHEN d.what = 'IDLE' THEN 'IDLE'
        ELSE 'WAITING'
    END AS state,
    CASE WHEN d.what <> 'IDLE' THEN d.what END AS reason,
    CASE d.what
        WHEN 'AWAITED' THEN d.awaited
        WHEN 'OPEN_RUN' THEN d.who
        WHEN 'UNDO' THEN 'an undo of ' || d.closed_source
    END AS waits_for,
    CASE
        WHEN d.what = 'ROLLBACK' THEN d.undo_since
        WHEN d.what = 'RECALLED' THEN d.recalled_since
        WHEN d.what = 'EVERY' THEN d.every_due
        WHEN d.what = 'REPEAT' AND d.start_code = 'EVERY' THEN NULL
        ELSE d.oldest
    END AS since,
    CASE
        WHEN d.what = 'REPEAT' AND d.start_code = 'EVERY' THEN d.every_due
        WHEN d.what = 'REPEAT' THEN d.news_due
    END AS not_before,
    CASE
        WHEN d.what <> 'IDLE' AND d.newest_id > coalesce(d.read_id, 0)
            THEN 'up to change ' || d.newest_id
    END AS detail
FROM said AS d;

COMMENT ON VIEW omd_decision.stage_work IS
'For rooms: the stages that start by themselves, and whether there is something to decide.';
COMMENT ON COLUMN omd_decision.stage_work.module_id IS 'The Module.';
COMMENT ON COLUMN omd_decision.stage_work.state IS 'READY, WAITING or IDLE.';
COMMENT ON COLUMN omd_decision.stage_work.reason IS
'READY: NEWS, a position of a source lies behind the window, which could move; EVERY, its time has '
'come; ROLLBACK, a run is to be undone; RECALLED, windows are to be taken again. WAITING: AWAITED, '
'rows of a source are to come again after a recall; OPEN_RUN, a run that writes a source is at '
'work, or waits for its rollback, and holds the window back; REPEAT, its time or the delay of its '
'window is not over; UNDO, rows of the facts are being taken back. NULL: there is nothing to do.';
COMMENT ON COLUMN omd_decision.stage_work.waits_for IS
'What it waits for; NULL: nothing that has a name.';
COMMENT ON COLUMN omd_decision.stage_work.since IS
'When the oldest position came that was not read, when its time came, the run began that is to be '
'undone, or a window was taken back.';
COMMENT ON COLUMN omd_decision.stage_work.not_before IS
'When its time comes, or the delay of its window is over; NULL: it waits for no time.';
COMMENT ON COLUMN omd_decision.stage_work.detail IS
'What a run would take; NULL when there is nothing to name.';
