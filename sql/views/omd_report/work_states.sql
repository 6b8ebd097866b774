-- Each room says what there is to do for its Modules; what holds for all of them stands here: runs,
-- failures and who is switched off. So a new kind needs a view of work in its room, and a line in
-- each_room. Who asks for one Module names its room too, and a topic, since the planner then leaves
-- out what the other rooms say, and looks at this topic alone (omd_report.ready_tasks_near).

CREATE OR REPLACE VIEW omd_report.work_states AS
WITH
room_work AS NOT MATERIALIZED (
    SELECT
        t.module_id,
        t.state,
        t.reason,
        t.waits_for,
        t.since,
        t.not_before,
        NULL::bigint AS module_instance_id,
        t.detail,
        'TOPIC' AS room,
        t.topic_id
    FROM omd_lineage.topic_work AS t
    UNION ALL
    SELECT
        l.module_id,
        l.state,
        l.reason,
        l.waits_for,
        l.since,
        NULL::timestamptz AS not_before,
        NULL::bigint AS module_instance_id,
        l.detail,
        'FACTS' AS room,
        NULL::integer AS topic_id
    FROM omd_facts.load_work AS l
    UNION ALL
    SELECT
        m.module_id,
        d.state,
        d.reason,
        d.waits_for,
        d.since,
        d.not_before,
        d.batch_instance_id AS module_instance_id,
        'delivery ' || d.delivery_id AS detail,
        'DELIVERY' AS room,
        NULL::integer AS topic_id
    FROM omd_delivery.delivery_work AS d
    INNER JOIN omd.module AS m ON d.batch_code = m.module_code
    UNION ALL
    SELECT
        m.module_id,
        e.state,
        e.reason,
        e.waits_for,
        e.since,
        e.not_before,
        e.module_instance_id,
        'delivery ' || e.delivery_id AS detail,
        'EXPORT' AS room,
        NULL::integer AS topic_id
    FROM omd_facts.export_work AS e
    INNER JOIN omd.module AS m ON e.module_code = m.module_code
    UNION ALL
    SELECT
        s.module_id,
        s.state,
        s.reason,
        s.waits_for,
        s.since,
        s.not_before,
        NULL::bigint AS module_instance_id,
        s.detail,
        'STAGE' AS room,
        NULL::integer AS topic_id
    FROM omd_decision.stage_work AS s
),

-- What a recall took back of a Module comes again when what it had read has come again.
each_room AS (
    SELECT w.* FROM room_work AS w
    UNION ALL
    SELECT
        r.module_id,
        CASE WHEN u.waits_for IS NULL THEN 'READY' ELSE 'WAITING' END AS state,
        'RECALLED' AS reason,
        u.waits_for,
        r.since,
        NULL::timestamptz AS not_before,
        NULL::bigint AS module_instance_id,
        'recall ' || r.recall_id AS detail,
        'RETURN' AS room,
        NULL::integer AS topic_id
    FROM omd.return_work AS r
    LEFT JOIN LATERAL (
        SELECT min(m.module_code) AS waits_for
        FROM unnest(r.upstream) AS s (module_id)
        INNER JOIN omd.module AS m ON s.module_id = m.module_id
        LEFT JOIN room_work AS w ON s.module_id = w.module_id
        WHERE
            w.state IN ('READY', 'RUNNING', 'WAITING')
            OR EXISTS (
                SELECT FROM omd.awaited_return AS a
                WHERE a.module_id = s.module_id AND a.ended_datetime IS NULL
            )
            OR EXISTS (
                SELECT FROM omd.running_modules() AS e WHERE e.module_id = s.module_id
            )
    ) AS u ON TRUE
),

modules AS (
    SELECT
        m.module_id,
        m.module_kind_code,
        m.module_code,
        m.engine_code,
        w.room,
        w.topic_id,
        w.state AS room_state,
        w.reason AS room_reason,
        w.waits_for,
        w.since,
        w.detail,
        p.failures,
        p.last_problem,
        p.failed_since,
        p.looked_datetime,
        p.state AS pause,
        coalesce(p.is_settled, FALSE) AS is_settled,
        r.start_datetime,
        w.not_before AS room_not_before,
        p.not_before,
        coalesce(r.module_instance_id, w.module_instance_id) AS running_instance_id,
        p.last_module_instance_id,
        l.task_id,
        b.waits_for_a_person,
        CASE
            -- A topic that was taken from a run is ready, although that run executes.
            WHEN w.state = 'RUNNING' OR m.module_kind_code <> 'TOPIC' AND r.module_id IS NOT NULL
                THEN 'RUNNING'
            WHEN NOT p.is_settled AND (p.state IS NOT NULL OR b.waits_for_a_person)
                THEN 'FAILED'
            WHEN m.inactive_indicator = 'Y' OR w.state = 'PAUSED' OR h.module_id IS NOT NULL
                THEN 'PAUSED'
            WHEN w.state = 'READY' AND p.looked_datetime >= coalesce(w.since, '-infinity')
                THEN 'BACK_OFF'
            ELSE coalesce(w.state, 'IDLE')
        END AS state,
        CASE
            WHEN m.inactive_indicator = 'Y' OR w.state = 'PAUSED' THEN 'INACTIVE'
            WHEN h.module_id IS NOT NULL THEN 'SUSPENDED'
        END AS paused_by
    FROM omd.module AS m
    LEFT JOIN each_room AS w ON m.module_id = w.module_id
    LEFT JOIN omd.module_pause AS p ON m.module_id = p.module_id
    LEFT JOIN omd.running_modules() AS r ON m.module_id = r.module_id
    LEFT JOIN omd_dispatch.suspended_modules() AS h ON m.module_id = h.module_id
    LEFT JOIN omd_dispatch.live_work() AS l ON m.module_code = l.code
    -- What a recall asks for again is taken by a worker.
    CROSS JOIN
        LATERAL (
            VALUES (
                coalesce(p.failures > 0 AND p.is_by_hand, FALSE)
                AND w.state IS DISTINCT FROM 'READY'
            )
        ) AS b (waits_for_a_person)
    WHERE m.module_kind_code <> 'PART'
)

SELECT
    w.module_kind_code,
    w.module_code AS code,
    w.engine_code,
    w.state,
    CASE
        WHEN w.state = 'RUNNING' THEN CASE w.room_reason WHEN 'HELD' THEN 'HELD' ELSE 'RUNNING' END
        WHEN w.state = 'FAILED'
            THEN
                CASE
                    WHEN w.waits_for_a_person THEN 'WAITS_FOR_A_PERSON'
                    WHEN w.pause = 'FAILED' THEN 'GIVEN_UP'
                    ELSE 'BACK_OFF'
                END
        WHEN w.state = 'BACK_OFF' THEN w.state
        WHEN w.state = 'PAUSED' THEN w.paused_by
        WHEN w.state IN ('READY', 'WAITING') THEN w.room_reason
    END AS reason,
    CASE WHEN w.state = 'WAITING' THEN w.waits_for END AS waits_for,
    CASE
        WHEN w.state = 'RUNNING' THEN coalesce(w.start_datetime, w.since)
        WHEN w.state IN ('FAILED', 'BACK_OFF') THEN coalesce(w.failed_since, w.looked_datetime)
        WHEN w.state IN ('READY', 'WAITING') THEN w.since
    END AS since,
    CASE
        WHEN w.state = 'FAILED' AND (w.waits_for_a_person OR w.pause = 'FAILED') THEN NULL
        WHEN w.state IN ('FAILED', 'BACK_OFF', 'READY') THEN w.not_before
        WHEN w.state = 'WAITING' THEN w.room_not_before
    END AS not_before,
    CASE WHEN w.is_settled THEN 0 ELSE coalesce(w.failures, 0) END AS failures,
    CASE WHEN w.is_settled THEN NULL ELSE w.last_problem END AS last_problem,
    coalesce(
        CASE WHEN w.state = 'RUNNING' THEN w.running_instance_id END, w.last_module_instance_id
    ) AS module_instance_id,
    w.task_id,
    w.detail,
    w.module_id,
    w.room,
    w.topic_id
FROM modules AS w;

COMMENT ON VIEW omd_report.work_states IS
'For rooms: '
'Every Module but parts of others: its state, as omd_report.work shows it, and what a run would '
'take.';
COMMENT ON COLUMN omd_report.work_states.module_kind_code IS 'The kind: what one run of it is.';
COMMENT ON COLUMN omd_report.work_states.code IS 'The Module.';
COMMENT ON COLUMN omd_report.work_states.engine_code IS
'Who performs a run: POSTGRES (the database) or SPARK (a worker process); NULL: a program outside, '
'of a JOB without a job.';
COMMENT ON COLUMN omd_report.work_states.state IS
'RUNNING, FAILED, BACK_OFF, PAUSED, READY, WAITING or IDLE.';
COMMENT ON COLUMN omd_report.work_states.reason IS
'Why: RUNNING, or HELD of a topic; of FAILED WAITS_FOR_A_PERSON (no worker runs it by itself), '
'BACK_OFF (workers try again when its pause is over) or GIVEN_UP (it waits for omd.retry); '
'BACK_OFF, when there was nothing to do; INACTIVE or SUSPENDED; why it is ready, or what it waits '
'for; NULL: it is idle.';
COMMENT ON COLUMN omd_report.work_states.waits_for IS
'What it waits for; NULL: it does not wait, or for nothing that has a name.';
COMMENT ON COLUMN omd_report.work_states.since IS
'When this state began, by the row that made it so; NULL when that is not known.';
COMMENT ON COLUMN omd_report.work_states.not_before IS 'When its pause ends; NULL: it has none.';
COMMENT ON COLUMN omd_report.work_states.failures IS
'How often it has failed since its last success.';
COMMENT ON COLUMN omd_report.work_states.last_problem IS
'The last failure since then, as omd.failure_text shows it to the caller; NULL: none was.';
COMMENT ON COLUMN omd_report.work_states.module_instance_id IS
'The run that executes (of a DELIVERY its Batch Instance), else the one that failed last; NULL: '
'there is none.';
COMMENT ON COLUMN omd_report.work_states.task_id IS 'Its live task; NULL: there is none.';
COMMENT ON COLUMN omd_report.work_states.detail IS
'What a run would take; NULL when there is nothing to name.';
COMMENT ON COLUMN omd_report.work_states.module_id IS 'The number of the Module.';
COMMENT ON COLUMN omd_report.work_states.room IS
'Who says that there is something to do: TOPIC, FACTS, DELIVERY, EXPORT, STAGE, or RETURN, a '
'recall; NULL: nobody.';
COMMENT ON COLUMN omd_report.work_states.topic_id IS 'The number of the topic; NULL: it is none.';
