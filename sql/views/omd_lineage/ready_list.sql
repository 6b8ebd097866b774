-- The rules by which a topic is ready (L5) stand here and nowhere else. The cost grows with the
-- number of topics and dependencies and with the few instances that are open, not with history.

CREATE OR REPLACE VIEW omd_lineage.ready_list AS
WITH
-- Few, and each is asked for once: in the expression of a topic the planner would count them for
-- each topic again.
undone AS MATERIALIZED (
    SELECT i.module_id
    FROM omd.open_instance AS i
    WHERE i.is_rollback_pending AND i.execution_status_code = 'S'
),

restated AS MATERIALIZED (
    SELECT r.topic_id
    FROM omd_lineage.restatement_list AS r
    WHERE r.is_ready
),

lag AS (
    SELECT
        d.topic_id,
        min(d.pos) AS least_pos,
        count(*) = count(d.pos) AS is_complete,
        min(d.pos) FILTER (WHERE d.ordinal = 1) AS base_pos,
        min(d.id) FILTER (WHERE d.ordinal = 1) AS base_id,
        bool_and(d.is_whole) FILTER (WHERE d.ordinal = 1) AS base_is_whole,
        CASE
            WHEN coalesce(min(d.pos) < min(d.pos) FILTER (WHERE NOT d.is_whole), TRUE)
                THEN min(d.pos)
        END AS whole_pos,
        (array_agg(d.ordinal ORDER BY d.pos NULLS FIRST))[1] AS blocker,
        max(d.moved_at) AS moved_at,
        min(d.source_kind_code) FILTER (WHERE d.ordinal = 1) AS base_kind,
        min(d.former_pos) AS former_pos,
        min(d.former_id) AS former_id,
        bool_or(d.is_closed) AS is_closed,
        min(d.source_table_code) AS source_table_code
    FROM omd_lineage.dependency_offsets AS d
    GROUP BY d.topic_id
),

topics AS (
    SELECT
        t.topic_id,
        t.topic,
        t.module_id,
        t.processor,
        t.engine,
        t.repeat,
        t.run_window,
        t.inactive_indicator = 'Y' OR m.inactive_indicator = 'Y' AS is_inactive,
        o.last_ts AS last_pos,
        (o.last).id AS last_id,
        o.next,
        omd_lineage._shown_state(o.attempts, o.state) AS state,
        o.hostid,
        o.attempts,
        o.is_full,
        o.is_whole,
        o.run,
        g.base_pos,
        g.base_id,
        g.moved_at,
        s.state AS pause,
        s.not_before,
        s.failed_since,
        s.looked_datetime >= greatest(
            coalesce(g.moved_at, '-infinity'), w.noted_datetime
        ) AS is_looked_at,
        w.noted_datetime AS recalled_at,
        coalesce(g.base_kind IN ('FACTS', 'RUNS'), FALSE) AS has_source,
        coalesce(g.is_closed, FALSE) AS is_closed,
        -- The oldest change, or end of a run, that is not read yet. Most topics miss the newest one
        -- alone.
        CASE
            WHEN g.base_kind NOT IN ('FACTS', 'RUNS') THEN NULL
            WHEN g.base_kind = 'FACTS' AND (g.base_pos, g.base_id) <= (o.last_ts, (o.last).id)
                THEN NULL
            WHEN g.base_pos <= o.last_ts THEN NULL
            WHEN g.former_pos <= o.last_ts THEN g.base_pos
            ELSE omd.next_position(g.source_table_code, o.last_ts, (o.last).id)
        END AS unread_pos,
        CASE
            WHEN a.waits_for IS NOT NULL THEN a.waits_for
            WHEN g.is_complete THEN t.depends_on[g.blocker]
            ELSE 'no offset: ' || t.depends_on[g.blocker]
        END AS blocker,
        CASE
            WHEN t.max_wait IS NOT NULL
                THEN omd_lineage._horizon(
                    CASE WHEN g.is_complete THEN g.least_pos END, g.base_pos, y.delay, NULL, NULL
                )
        END AS patient_upto,
        t.max_wait IS NOT NULL AS is_impatient,
        omd_lineage._horizon(
            CASE WHEN g.is_complete THEN g.least_pos END, g.base_pos, y.delay, t.max_wait,
            o.waiting_since
        ) AS upto,
        -- The instant whose rows may all be read, and whether those of the base table may.
        g.whole_pos,
        g.base_is_whole,
        (t.pos_column IS NULL AND t.id_column IS NULL)
        OR omd_lineage._reads_wholly(t.topic_id) AS reads_wholly,
        o.hostid <> '' AND omd_lineage._holder_lives(o.hostid, o.module_instance_id) AS is_held,
        t.module_id IN (SELECT u.module_id FROM undone AS u) AS is_to_be_undone,
        t.topic_id IN (SELECT e.topic_id FROM restated AS e) AS is_to_be_restated,
        w.module_id IS NOT NULL AS is_to_come_again,
        a.waits_for AS awaited
    FROM omd_lineage.topic AS t
    INNER JOIN omd_lineage.offsets AS o ON t.topic_id = o.topic_id
    INNER JOIN omd.module_target AS m ON t.module_id = m.module_id
    LEFT JOIN lag AS g ON t.topic_id = g.topic_id
    -- Changes of facts have a clock of their own, which never goes back: when that of the server
    -- was set back, the newest ones lie ahead of it.
    CROSS JOIN
        LATERAL (
            SELECT
                CASE
                    WHEN g.base_kind = 'FACTS' THEN nullif(t.delay, interval '0')
                    ELSE t.delay
                END AS delay
        ) AS y
    LEFT JOIN omd.module_pause AS s ON t.module_id = s.module_id
    LEFT JOIN omd_lineage.awaiting_topics AS a ON t.topic_id = a.topic_id
    LEFT JOIN (
        SELECT
            q.module_id,
            max(q.noted_datetime) AS noted_datetime
        FROM omd.open_window AS q
        GROUP BY q.module_id
    ) AS w ON t.module_id = w.module_id
    WHERE t.processor IS NOT NULL
),

-- Each LIMIT 1 keeps a reason from being computed wherever it is used; a query of one topic still
-- reads one.
reasoned AS (
    SELECT
        t.*,
        w.reason
    FROM topics AS t
    CROSS JOIN
        LATERAL (
            SELECT
                CASE
                    WHEN t.is_inactive THEN 'INACTIVE'
                    WHEN t.is_held THEN 'HELD'
                    WHEN t.pause = 'FAILED' THEN 'FAILED'
                    WHEN NOT omd_lineage._in_run_window(t.run_window, now()) THEN 'RUN_WINDOW'
                    WHEN t.pause = 'BACK_OFF' THEN 'BACK_OFF'
                    WHEN t.is_closed THEN 'UNDO'
                    WHEN t.awaited IS NOT NULL THEN 'AWAITED'
                    WHEN t.is_to_come_again AND t.attempts = 0 AND NOT t.is_to_be_undone
                        THEN 'RECALLED'
                    WHEN t.next IS NOT NULL OR t.attempts > 0 THEN 'RETRY'
                    WHEN t.is_to_be_undone THEN 'ROLLBACK'
                    WHEN t.is_to_be_restated THEN 'RESTATE'
                    WHEN t.upto IS NULL OR t.last_pos IS NULL THEN 'NO_OFFSET'
                    WHEN t.is_full THEN 'FULL'
                    WHEN t.has_source AND coalesce(t.unread_pos > t.upto, TRUE)
                        THEN 'DEPENDENCY'
                    -- Without a time all positions are at -infinity, and the ids tell.
                    WHEN
                        NOT (
                            t.last_pos < t.upto
                            -- As omd_lineage._is_ahead says; to call it here costs a third more.
                            OR coalesce(
                                (
                                    t.last_pos = t.whole_pos
                                    OR (
                                        t.is_impatient
                                        AND t.base_is_whole
                                        AND t.last_pos = t.base_pos
                                    )
                                )
                                AND (
                                    NOT t.is_whole
                                    OR (t.base_pos = t.last_pos AND t.base_id > t.last_id)
                                )
                                AND t.last_pos = t.upto
                                AND t.reads_wholly,
                                FALSE
                            )
                            OR (
                                t.last_pos = '-infinity'
                                AND t.upto = '-infinity'
                                AND t.last_id < t.base_id
                            )
                        )
                        THEN 'DEPENDENCY'
                    -- A step further ahead is of a clock that was set back since.
                    WHEN
                        now() <= t.run + t.repeat
                        AND t.run <= statement_timestamp() + interval '1 minute'
                        THEN 'REPEAT'
                    WHEN t.is_impatient AND coalesce(t.last_pos >= t.patient_upto, TRUE)
                        THEN 'MAX_WAIT'
                    ELSE 'DUE'
                END AS reason
            LIMIT 1 -- noqa: AM09
        ) AS w
),

-- What was ready and had nothing to do is no more ready until there is news.
seen AS (
    SELECT
        r.*,
        w.shown_reason
    FROM reasoned AS r
    CROSS JOIN
        LATERAL (
            SELECT
                CASE
                    WHEN
                        r.is_looked_at
                        AND r.reason IN (
                            'RETRY', 'ROLLBACK', 'RECALLED', 'RESTATE', 'FULL', 'MAX_WAIT', 'DUE'
                        )
                        THEN 'BACK_OFF'
                    ELSE r.reason
                END AS shown_reason
            LIMIT 1 -- noqa: AM09
        ) AS w
)

SELECT
    r.topic,
    r.shown_reason IN (
        'RETRY', 'ROLLBACK', 'RECALLED', 'RESTATE', 'FULL', 'MAX_WAIT', 'DUE'
    ) AS is_ready,
    r.shown_reason AS reason,
    r.upto,
    r.blocker,
    CASE
        WHEN r.has_source AND r.unread_pos IS NULL THEN interval '0'
        WHEN r.has_source AND isfinite(r.unread_pos)
            THEN greatest(now() - r.unread_pos, interval '0')
        WHEN r.has_source THEN NULL
        -- The offset stands at the newest instant, whose rows have been waiting for a minute.
        WHEN
            r.last_pos = r.base_pos
            AND r.last_id < r.base_id
            AND NOT r.base_is_whole
            AND r.processor <> 'RELOAD'
            AND isfinite(r.last_pos)
            AND r.moved_at < now() - interval '1 minute'
            THEN now() - r.moved_at
        WHEN isfinite(r.last_pos) AND isfinite(r.base_pos)
            THEN greatest(r.base_pos - r.last_pos, interval '0')
    END AS lag,
    r.processor,
    r.engine,
    r.state,
    r.hostid,
    r.attempts,
    r.topic_id,
    r.module_id,
    CASE
        WHEN r.shown_reason IN ('FAILED', 'BACK_OFF') THEN coalesce(r.failed_since, r.run)
        WHEN r.shown_reason = 'RECALLED' THEN r.recalled_at
        WHEN r.shown_reason IN ('DUE', 'MAX_WAIT', 'DEPENDENCY', 'RUN_WINDOW', 'NO_OFFSET')
            THEN r.moved_at
        WHEN isfinite(r.run) THEN r.run
    END AS since,
    CASE r.shown_reason
        WHEN 'BACK_OFF' THEN r.not_before
        WHEN 'REPEAT' THEN r.run + r.repeat
    END AS not_before,
    coalesce(
        r.next IS NOT NULL OR r.attempts > 0 OR r.is_to_be_undone OR r.is_to_be_restated
        OR r.is_to_come_again OR r.is_full OR r.base_pos > r.last_pos
        OR (r.base_pos = '-infinity' AND r.last_pos = '-infinity' AND r.base_id > r.last_id),
        FALSE
    ) AS has_work,
    r.is_held
FROM seen AS r
-- A topic that has not begun is the furthest behind.
ORDER BY lag DESC NULLS FIRST, r.topic_id ASC;

COMMENT ON VIEW omd_lineage.ready_list IS
'For rooms: every topic with steps, as omd_report.lineage_ready shows it to people.';
COMMENT ON COLUMN omd_lineage.ready_list.topic IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.is_ready IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.reason IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.upto IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.blocker IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.lag IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.processor IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.engine IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.state IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.hostid IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.attempts IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.topic_id IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.module_id IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.since IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.not_before IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.has_work IS 'As omd_report.lineage_ready says.';
COMMENT ON COLUMN omd_lineage.ready_list.is_held IS 'As omd_report.lineage_ready says.';
