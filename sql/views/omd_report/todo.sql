-- A problem is here when an action of the page mends it, or is a person's decision about it; what
-- only a program or a sender can mend is in omd_report.problems alone. The text of a dead task's
-- error may hold values of rows, so its code stands for it.

CREATE OR REPLACE VIEW omd_report.todo AS
WITH problem AS (
    SELECT
        p.problem_code,
        p.object_kind,
        p.object_key,
        p.subject,
        p.since,
        p.text,
        p.way_out
    FROM omd_report.problems AS p
    WHERE
        p.problem_code IN (
            'GIVEN_UP', 'LAST_RUN_FAILED', 'NOT_RUN', 'ROLLBACK_PENDING', 'ROWS_OF_DEAD_RUN',
            'UNDONE_READ', 'DELIVERY_REFUSED', 'ARRIVAL_UNFIT', 'ARRIVAL_CHANGED',
            'SCHEDULE_PROBLEM'
        )
)

SELECT
    coalesce(t.object_kind, p.object_kind) AS object_kind,
    coalesce(t.key, p.object_key) AS key,
    p.subject AS title,
    p.since,
    concat_ws(
        ' ', p.text, CASE t.action_code WHEN 'UNDO' THEN p.way_out END
    ) AS problem,
    t.action_code
FROM problem AS p
LEFT JOIN omd.module AS m ON p.object_kind = 'MODULE' AND p.object_key = m.module_code
LEFT JOIN omd_lineage.topic AS o
    ON p.problem_code = 'UNDONE_READ' AND m.module_id = o.module_id
-- OFFSET 0: each problem looks its own up, and nothing that grows is read to be joined with.
LEFT JOIN LATERAL (
    SELECT
        e.delivery_id,
        e.delivery_status,
        i.interface_code
    FROM omd_delivery.arrival AS r
    INNER JOIN omd_delivery.delivery AS e ON r.delivery_id = e.delivery_id
    LEFT JOIN omd_delivery.delta_queue AS q
        ON e.delivery_id = q.delivery_id AND q.queue_status = 'PERSISTED'
    LEFT JOIN omd_delivery.interface AS i ON q.interface_id = i.interface_id
    WHERE
        r.arrival_id
        = CASE p.problem_code WHEN 'ARRIVAL_CHANGED' THEN p.object_key::bigint END
    ORDER BY e.delivery_id
    OFFSET 0
) AS d ON TRUE
LEFT JOIN LATERAL (
    SELECT r.arrival_id
    FROM omd_delivery.arrival AS r
    WHERE
        r.delivery_id
        = CASE
            WHEN p.problem_code = 'DELIVERY_REFUSED' AND p.object_kind = 'DELIVERY'
                THEN p.object_key::bigint
        END
    ORDER BY r.arrival_id
    OFFSET 0
) AS n ON TRUE
LEFT JOIN omd_dispatch.task_schedule AS c
    ON p.problem_code = 'SCHEDULE_PROBLEM' AND p.object_key = c.schedule_code
LEFT JOIN LATERAL (
    SELECT
        i.module_instance_id,
        i.next_run_indicator
    FROM omd.module_instance AS i
    WHERE
        i.module_instance_id
        = CASE
            WHEN p.problem_code = 'UNDONE_READ' AND p.object_kind = 'MODULE_INSTANCE'
                THEN p.object_key::bigint
            WHEN p.problem_code IN ('UNDONE_READ', 'ROWS_OF_DEAD_RUN')
                THEN substring(p.way_out FROM 'p_module_instance_id => ([0-9]+)')::bigint
        END
    ORDER BY i.module_instance_id
    OFFSET 0
) AS x ON TRUE
CROSS JOIN
    LATERAL (
        SELECT
            a.object_kind,
            a.key,
            a.action_code
        FROM (
            VALUES
            (1, p.problem_code = 'GIVEN_UP', NULL, NULL, 'RETRY'),
            -- Where it is marked already, the next begin undoes it.
            (
                1,
                p.problem_code = 'ROWS_OF_DEAD_RUN' AND x.module_instance_id IS NOT NULL,
                'MODULE_INSTANCE',
                x.module_instance_id::text,
                'ROLL_BACK_NEXT'
            ),
            -- What a program outside begins can only be undone here; a directive has its own row.
            (
                2,
                p.problem_code IN (
                    'LAST_RUN_FAILED', 'ROLLBACK_PENDING', 'ROWS_OF_DEAD_RUN', 'NOT_RUN'
                )
                AND omd.start_hint(m.module_id) IS NOT NULL,
                NULL,
                NULL,
                CASE
                    WHEN p.problem_code IN ('LAST_RUN_FAILED', 'ROWS_OF_DEAD_RUN') THEN 'UNDO'
                END
            ),
            (
                3,
                p.problem_code IN (
                    'LAST_RUN_FAILED', 'ROLLBACK_PENDING', 'ROWS_OF_DEAD_RUN', 'NOT_RUN'
                ),
                NULL,
                NULL,
                CASE p.object_kind WHEN 'BATCH' THEN 'BATCH_RUN' ELSE 'RUN' END
            ),
            (
                4,
                p.problem_code = 'UNDONE_READ' AND o.topic IS NOT NULL,
                'TOPIC',
                o.topic,
                'RESTATE'
            ),
            -- A run that is marked already needs no second mark.
            (
                5,
                p.problem_code = 'UNDONE_READ',
                'MODULE_INSTANCE',
                x.module_instance_id::text,
                CASE WHEN x.next_run_indicator <> 'R' THEN 'ROLL_BACK_NEXT' END
            ),
            (
                6,
                p.problem_code = 'ARRIVAL_CHANGED'
                AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED'),
                'DELIVERY',
                d.delivery_id::text,
                'CANCEL_DELIVERY'
            ),
            (
                7,
                p.problem_code = 'ARRIVAL_CHANGED' AND d.delivery_status = 'ACCEPTED',
                'DELIVERY',
                d.delivery_id::text,
                'REVERT'
            ),
            (
                8,
                p.problem_code = 'ARRIVAL_CHANGED' AND d.interface_code IS NOT NULL,
                'INTERFACE',
                d.interface_code,
                'UNDO_LOAD'
            ),
            (
                9,
                p.problem_code = 'DELIVERY_REFUSED' AND p.object_kind = 'DELIVERY',
                'ARRIVAL',
                n.arrival_id::text,
                CASE WHEN n.arrival_id IS NOT NULL THEN 'FORGET_ARRIVAL' END
            ),
            (10, p.object_kind = 'ARRIVAL', NULL, NULL, 'FORGET_ARRIVAL'),
            -- What it has lost is over, and the next occurrence comes by itself.
            (
                11,
                p.problem_code = 'SCHEDULE_PROBLEM',
                NULL,
                NULL,
                CASE WHEN c.next_time <= statement_timestamp() THEN 'FIRE_SCHEDULE' END
            )
        ) AS a (place, is_it, object_kind, key, action_code)
        WHERE a.is_it
        ORDER BY a.place
        LIMIT 1
    ) AS t
WHERE t.action_code IS NOT NULL
UNION ALL
-- A run that is dead and that nobody has declared so.
SELECT
    l.instance_type || '_INSTANCE' AS object_kind,
    l.instance_id::text AS key,
    format('%s Instance %s of %s', initcap(l.instance_type), l.instance_id, l.code) AS title,
    l.since_datetime AS since,
    l.detail AS problem,
    CASE l.instance_type WHEN 'BATCH' THEN 'BATCH_END' ELSE 'END' END AS action_code
FROM omd.expired_lease AS l
UNION ALL
SELECT
    'TASK' AS object_kind,
    g.first_task_id::text AS key,
    format(
        '%s%s of %s/%s',
        CASE g.dead WHEN 1 THEN '1 dead task' ELSE g.dead || ' dead tasks' END,
        CASE WHEN NOT g.is_all THEN ' or more' END,
        g.family_code,
        g.task_type
    ) AS title,
    g.since,
    format('error %s: the attempts are used up', coalesce(g.sqlstate_code, 'without a code'))
        AS problem,
    'REVIVE_TASK' AS action_code
FROM omd_dispatch.dead_groups() AS g
UNION ALL
SELECT
    c.instance_type || '_INSTANCE' AS object_kind,
    c.instance_id::text AS key,
    format('%s Instance %s of %s', initcap(c.instance_type), c.instance_id, c.code) AS title,
    coalesce(c.set_datetime, c.end_datetime) AS since,
    concat_ws(
        ', set by ',
        CASE c.next_run_indicator
            WHEN 'C' THEN 'the next run will be skipped'
            ELSE 'the next run will undo this one first'
        END,
        c.set_by_user
    ) AS problem,
    CASE
        WHEN c.instance_type = 'BATCH' THEN 'BATCH_CLEAR_DIRECTIVE'
        WHEN c.execution_status_code = 'F' THEN 'ROLL_BACK_NEXT'
        ELSE 'CLEAR_DIRECTIVE'
    END AS action_code
FROM omd_report.directives AS c
-- The rows of a failed run have to be undone, so nobody can clear that.
WHERE
    c.set_by = 'ADMINISTRATOR'
    AND NOT (
        c.instance_type = 'MODULE'
        AND c.execution_status_code = 'F'
        AND c.next_run_indicator = 'R'
    )
UNION ALL
SELECT
    'RECALL' AS object_kind,
    b.recall_id::text AS key,
    format('entry %s of recall %s: %s', b.position, b.recall_id, b.code) AS title,
    e.executed_datetime AS since,
    concat_ws(': ', 'a person must bring it, or say that it will not come', b.problem) AS problem,
    'DROP_RETURN' AS action_code
FROM omd_provenance._returns_by_hand() AS b
INNER JOIN omd_provenance.recall AS e ON b.recall_id = e.recall_id
UNION ALL
SELECT
    'RECALL' AS object_kind,
    r.recall_id::text AS key,
    format('recall %s', r.recall_id) AS title,
    r.planned_datetime AS since,
    concat_ws(
        ': ',
        format(
            'planned by %s, not executed%s',
            r.planned_by,
            CASE WHEN r.blocked > 0 THEN format(', %s of %s rows blocked', r.blocked, r.items) END
        ),
        r.reason
    ) AS problem,
    'RECALL' AS action_code
FROM omd_report.recalls AS r
WHERE r.recall_status = 'PLANNED'
UNION ALL
SELECT
    'SUSPENSION' AS object_kind,
    s.suspension_id::text AS key,
    format('suspension %s of %s', s.suspension_id, s.family_code) AS title,
    s.suspended_at AS since,
    concat_ws(': ', 'it holds tasks for more than a day, set by ' || s.suspended_by, s.reason)
        AS problem,
    'RESUME' AS action_code
FROM omd_dispatch.task_suspension AS s
WHERE s.resumed_at IS NULL AND s.suspended_at < statement_timestamp() - interval '1 day';

COMMENT ON VIEW omd_report.todo IS
'What waits for a person, each with the action that settles it: the problems that an action '
'settles, dead tasks by type and code of error, directives, what a person must bring after a '
'recall, planned recalls, and suspensions older than a day. No row of business data is in it.';
COMMENT ON COLUMN omd_report.todo.object_kind IS
'What key names: an object_kind of omd_web.object_kind.';
COMMENT ON COLUMN omd_report.todo.key IS
'Its id or code; of dead tasks the first of them, of what must come again its recall.';
COMMENT ON COLUMN omd_report.todo.title IS 'What it is about, in words.';
COMMENT ON COLUMN omd_report.todo.since IS 'Since when; NULL when that is not known.';
COMMENT ON COLUMN omd_report.todo.problem IS
'What is wrong; of a failure the whole text for who has omd_data_reader, else no value of a row.';
COMMENT ON COLUMN omd_report.todo.action_code IS
'The action of omd_web.action that settles it.';
