-- What has ended was counted by publish, but for the newest few hundred events; all else is a look
-- into an index of what is open, so that neither grows with history. Each part is a branch with its
-- name as a constant: who asks for one metric pays for one.

CREATE OR REPLACE VIEW omd_report.metrics AS
WITH
queue AS MATERIALIZED (
    SELECT
        q.family_code,
        q.task_type,
        sum(q.due) AS due,
        sum(q.later) AS later,
        sum(q.suspended) AS suspended,
        sum(q.claimed) AS claimed,
        min(q.oldest_due) AS oldest_due
    FROM omd_dispatch._queue() AS q
    GROUP BY q.family_code, q.task_type
),

-- increase() of Prometheus sees no first value, so what an alert looks at begins with 0.
zeros (metric_name, sample_name, labels) AS (
    SELECT
        'omd_module_runs_total',
        'omd_module_runs_total',
        jsonb_build_object('module', m.module_code, 'status', 'F')
    FROM omd.module AS m
    WHERE m.module_kind_code <> 'PART'
    UNION ALL
    SELECT
        'omd_batch_runs_total',
        'omd_batch_runs_total',
        jsonb_build_object('batch', b.batch_code, 'status', 'F')
    FROM omd.batch AS b
    UNION ALL
    SELECT
        'omd_agreement_deliveries_total',
        'omd_agreement_deliveries_total',
        jsonb_build_object('agreement', a.agreement_code, 'status', 'REFUSED')
    FROM omd_delivery.agreement AS a
    UNION ALL
    SELECT
        'omd_tasks_dead_total',
        'omd_tasks_dead_total',
        jsonb_build_object('family', t.family_code, 'task_type', t.task_type)
    FROM omd_dispatch.task_conf_type_desc AS t
    UNION ALL
    SELECT
        'omd_schedule_failures_total',
        'omd_schedule_failures_total',
        jsonb_build_object('schedule', s.schedule_code)
    FROM omd_dispatch.task_schedule AS s
),

counted (metric_name, sample_name, labels, value) AS NOT MATERIALIZED (
    SELECT
        n.metric_name,
        n.sample_name,
        n.labels,
        CASE n.metric_name
            WHEN 'omd_module_last_success_timestamp_seconds' THEN max(n.value)
            ELSE sum(n.value)
        END
    FROM (
        SELECT
            c.metric_name,
            c.sample_name,
            c.labels,
            c.value
        FROM omd_event.counter AS c
        UNION ALL
        SELECT
            u.metric_name,
            u.sample_name,
            u.labels,
            u.value
        FROM omd_event.uncounted AS u
    ) AS n
    GROUP BY n.metric_name, n.sample_name, n.labels
),

samples (metric_name, sample_name, labels, value) AS (
    SELECT
        c.metric_name,
        c.sample_name,
        c.labels,
        c.value
    FROM counted AS c
    UNION ALL
    SELECT
        z.metric_name,
        z.sample_name,
        z.labels,
        0
    FROM zeros AS z
    WHERE
        NOT EXISTS (
            SELECT FROM counted AS c
            WHERE c.metric_name = z.metric_name AND c.labels = z.labels
        )
    UNION ALL
    SELECT
        'omd_info',
        'omd_info',
        jsonb_build_object(
            'version',
            coalesce(
                (
                    SELECT f.product_version
                    FROM omd.installed_file AS f
                    ORDER BY f.applied_at DESC, f.path ASC
                    LIMIT 1
                ),
                'unknown'
            )
        ),
        1
    UNION ALL
    SELECT
        'omd_published_timestamp_seconds',
        'omd_published_timestamp_seconds',
        '{}',
        extract(EPOCH FROM s.published_datetime)
    FROM omd_event.setting AS s
    WHERE s.published_datetime IS NOT NULL
    UNION ALL
    SELECT
        'omd_runs_executing',
        'omd_runs_executing',
        jsonb_build_object('kind', k.module_kind_code),
        coalesce(x.runs, 0)
    FROM omd.module_kind AS k
    LEFT JOIN (
        SELECT
            m.module_kind_code,
            count(*) AS runs
        FROM omd.open_instance AS o
        INNER JOIN omd.module AS m ON o.module_id = m.module_id
        WHERE o.execution_status_code = 'E'
        GROUP BY m.module_kind_code
    ) AS x ON k.module_kind_code = x.module_kind_code
    UNION ALL
    SELECT
        'omd_rollbacks_pending',
        'omd_rollbacks_pending',
        '{}',
        count(DISTINCT o.module_id)
    FROM omd.open_instance AS o
    WHERE o.is_rollback_pending
    UNION ALL
    SELECT
        'omd_problems',
        'omd_problems',
        jsonb_build_object('problem', p.problem_code),
        count(*)
    FROM omd_report.problems AS p
    GROUP BY p.problem_code
    UNION ALL
    SELECT
        'omd_topic_lag_seconds',
        'omd_topic_lag_seconds',
        jsonb_build_object('topic', l.topic),
        extract(EPOCH FROM l.lag)
    FROM omd_report.lineage_lag AS l
    WHERE l.lag IS NOT NULL
    UNION ALL
    SELECT
        'omd_source_age_seconds',
        'omd_source_age_seconds',
        jsonb_build_object('source', s.source),
        extract(EPOCH FROM s.lag)
    FROM omd_lineage.source_state AS s
    WHERE s.lag IS NOT NULL
    UNION ALL
    SELECT
        'omd_sources_stale',
        'omd_sources_stale',
        '{}',
        count(*)
    FROM omd_lineage.source_state AS s
    WHERE s.is_too_old
    UNION ALL
    SELECT
        'omd_tasks',
        'omd_tasks',
        jsonb_build_object('family', q.family_code, 'task_type', q.task_type, 'state', v.state),
        v.tasks
    FROM queue AS q
    CROSS JOIN
        LATERAL (
            VALUES
            ('due', q.due),
            ('later', q.later),
            ('suspended', q.suspended),
            ('claimed', q.claimed)
        ) AS v (state, tasks)
    UNION ALL
    SELECT
        'omd_task_oldest_due_seconds',
        'omd_task_oldest_due_seconds',
        jsonb_build_object('family', q.family_code, 'task_type', q.task_type),
        greatest(extract(EPOCH FROM statement_timestamp() - q.oldest_due), 0)
    FROM queue AS q
    WHERE isfinite(q.oldest_due)
    UNION ALL
    SELECT
        'omd_backends',
        'omd_backends',
        jsonb_build_object('group', b.backend_type),
        count(*)
    FROM omd_dispatch.backend_registration AS b
    WHERE omd_dispatch._lives(b.registration_time, b.ttl, statement_timestamp())
    GROUP BY b.backend_type
    UNION ALL
    SELECT
        'omd_queue_items',
        'omd_queue_items',
        jsonb_build_object('interface', i.interface_code),
        (
            SELECT count(*)
            FROM omd_delivery.open_queue AS q
            WHERE q.interface_id = i.interface_id
        )
    FROM omd_delivery.interface AS i
    UNION ALL
    SELECT
        'omd_queue_oldest_seconds',
        'omd_queue_oldest_seconds',
        jsonb_build_object('interface', i.interface_code),
        greatest(extract(EPOCH FROM statement_timestamp() - min(q.queued_datetime)), 0)
    FROM omd_delivery.open_queue AS q
    INNER JOIN omd_delivery.interface AS i ON q.interface_id = i.interface_id
    GROUP BY i.interface_code
    UNION ALL
    SELECT
        'omd_sink_behind_events',
        'omd_sink_behind_events',
        jsonb_build_object('sink', s.sink_code),
        s.behind
    FROM omd_report.event_sinks AS s
    WHERE s.inactive_indicator = 'N'
    UNION ALL
    SELECT
        'omd_sink_oldest_seconds',
        'omd_sink_oldest_seconds',
        jsonb_build_object('sink', s.sink_code),
        coalesce(greatest(extract(EPOCH FROM statement_timestamp() - s.oldest_waiting), 0), 0)
    FROM omd_report.event_sinks AS s
    WHERE s.inactive_indicator = 'N'
    UNION ALL
    SELECT
        'omd_outbox_oldest_seconds',
        'omd_outbox_oldest_seconds',
        '{}',
        coalesce(
            greatest(extract(EPOCH FROM statement_timestamp() - min(o.event_datetime)), 0), 0
        )
    FROM omd_event.outbox AS o
)

SELECT
    s.metric_name,
    m.metric_type,
    m.help,
    m.is_per_code,
    s.labels,
    s.value::float8 AS value,
    s.sample_name
FROM samples AS s
INNER JOIN omd_event.metric AS m ON s.metric_name = m.metric_name;

COMMENT ON VIEW omd_report.metrics IS
'The metrics and their values at this moment. What has ended is counted by omd_event.publish, so '
'somebody has to publish. No series has an id, a key of a row or the text of an error in it.';
COMMENT ON COLUMN omd_report.metrics.metric_name IS 'The metric.';
COMMENT ON COLUMN omd_report.metrics.metric_type IS 'counter, gauge or histogram.';
COMMENT ON COLUMN omd_report.metrics.help IS 'What it counts or measures.';
COMMENT ON COLUMN omd_report.metrics.is_per_code IS
'It has a series for each Module, Batch, topic, source, agreement, interface or schedule.';
COMMENT ON COLUMN omd_report.metrics.labels IS 'The labels of this series and their values.';
COMMENT ON COLUMN omd_report.metrics.value IS 'Its value.';
COMMENT ON COLUMN omd_report.metrics.sample_name IS
'The name of the series: that of the metric, of a histogram with _bucket, _sum or _count.';
