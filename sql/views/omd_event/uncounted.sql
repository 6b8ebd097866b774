-- What the published events that are not counted yet add to the counters: one pass over them, one
-- over their runs by their ids, and one row per series that moves. Kind and row counts are those of
-- the run, which is still there: all is counted before omd.purge deletes a run.

CREATE OR REPLACE VIEW omd_event.uncounted AS
WITH
ended AS MATERIALIZED (
    SELECT
        e.event_type,
        e.subject_type,
        e.code,
        e.event_datetime,
        greatest(extract(EPOCH FROM e.event_datetime - e.started_datetime), 0)::float8
            AS seconds,
        CASE split_part(e.event_type, '_', 2)
            WHEN 'SUCCEEDED' THEN 'S'
            WHEN 'FAILED' THEN 'F'
            WHEN 'ABORTED' THEN coalesce(e.detail ->> 'status', 'A')
            WHEN 'UNDONE' THEN 'UNDONE'
            ELSE split_part(e.event_type, '_', 2)
        END AS status,
        r.*
    FROM (
        SELECT
            n.counted_number,
            n.event_number
        FROM omd_event.setting AS n
        WHERE n.is_only BETWEEN TRUE AND TRUE
        ORDER BY n.is_only DESC
        LIMIT 1
    ) AS s
    INNER JOIN omd_event.event AS e
        ON s.counted_number < e.event_number AND s.event_number >= e.event_number
    -- OFFSET keeps the look-up by id: a join may read all runs that there ever were.
    LEFT JOIN LATERAL (
        SELECT
            m.module_kind_code AS kind,
            x.rows_input,
            x.rows_inserted,
            x.rows_updated,
            x.rows_deleted,
            x.rows_discarded,
            x.rows_rejected
        FROM omd.followed_module_instance AS x
        INNER JOIN omd.ledger_module AS m ON x.module_id = m.module_id
        WHERE x.module_instance_id = e.subject_id
        ORDER BY x.module_instance_id
        OFFSET 0
    ) AS r ON e.subject_type = 'MODULE'
    WHERE
        e.event_type NOT IN ('RUN_BEGAN', 'BATCH_BEGAN')
        AND NOT (
            e.event_type = 'SCHEDULE_FAILED'
            AND coalesce(e.detail ->> 'reason' = 'RECOVERED', FALSE)
        )
),

runs AS MATERIALIZED (
    SELECT
        e.code,
        e.status,
        e.kind,
        count(*) AS runs,
        max(e.event_datetime) AS last_datetime
    FROM ended AS e
    WHERE e.subject_type = 'MODULE'
    GROUP BY e.code, e.status, e.kind
),

kinds AS MATERIALIZED (
    SELECT
        e.kind,
        sum(e.seconds) AS seconds,
        count(*) AS runs,
        array_agg(e.seconds) AS each_seconds,
        sum(e.rows_input) AS rows_input,
        sum(e.rows_inserted) AS rows_inserted,
        sum(e.rows_updated) AS rows_updated,
        sum(e.rows_deleted) AS rows_deleted,
        sum(e.rows_discarded) AS rows_discarded,
        sum(e.rows_rejected) AS rows_rejected
    FROM ended AS e
    WHERE e.subject_type = 'MODULE' AND e.status <> 'UNDONE' AND e.kind IS NOT NULL
    GROUP BY e.kind
),

samples (metric_name, sample_name, labels, value) AS (
    SELECT
        'omd_runs_total',
        'omd_runs_total',
        jsonb_build_object('kind', r.kind, 'status', r.status),
        sum(r.runs)::float8
    FROM runs AS r
    WHERE r.status <> 'UNDONE' AND r.kind IS NOT NULL
    GROUP BY r.kind, r.status
    UNION ALL
    SELECT
        'omd_runs_undone_total',
        'omd_runs_undone_total',
        jsonb_build_object('kind', r.kind),
        sum(r.runs)
    FROM runs AS r
    WHERE r.status = 'UNDONE' AND r.kind IS NOT NULL
    GROUP BY r.kind
    UNION ALL
    SELECT
        'omd_module_runs_total',
        'omd_module_runs_total',
        jsonb_build_object('module', r.code, 'status', r.status),
        sum(r.runs)
    FROM runs AS r
    WHERE r.status <> 'UNDONE'
    GROUP BY r.code, r.status
    UNION ALL
    SELECT
        'omd_module_last_success_timestamp_seconds',
        'omd_module_last_success_timestamp_seconds',
        jsonb_build_object('module', r.code),
        extract(EPOCH FROM max(r.last_datetime))
    FROM runs AS r
    WHERE r.status = 'S'
    GROUP BY r.code
    UNION ALL
    SELECT
        'omd_run_seconds',
        'omd_run_seconds_bucket',
        jsonb_build_object('kind', k.kind, 'le', b.le),
        (
            SELECT count(*)
            FROM unnest(k.each_seconds) AS s (seconds)
            WHERE s.seconds <= b.le::float8
        )
    FROM kinds AS k
    CROSS JOIN unnest(omd_event._run_seconds_buckets()) AS b (le)
    UNION ALL
    SELECT
        'omd_run_seconds',
        'omd_run_seconds' || v.suffix,
        jsonb_build_object('kind', k.kind),
        v.value
    FROM kinds AS k
    CROSS JOIN LATERAL (VALUES ('_sum', k.seconds), ('_count', k.runs)) AS v (suffix, value)
    UNION ALL
    SELECT
        'omd_rows_total',
        'omd_rows_total',
        jsonb_build_object('kind', k.kind, 'count', v.name),
        v.value
    FROM kinds AS k
    CROSS JOIN
        LATERAL (
            VALUES
            ('input', k.rows_input),
            ('inserted', k.rows_inserted),
            ('updated', k.rows_updated),
            ('deleted', k.rows_deleted),
            ('discarded', k.rows_discarded),
            ('rejected', k.rows_rejected)
        ) AS v (name, value)
    UNION ALL
    SELECT
        'omd_batch_runs_total',
        'omd_batch_runs_total',
        jsonb_build_object('batch', e.code, 'status', e.status),
        count(*)
    FROM ended AS e
    WHERE e.subject_type = 'BATCH'
    GROUP BY e.code, e.status
    UNION ALL
    SELECT
        'omd_deliveries_total',
        'omd_deliveries_total',
        jsonb_build_object('status', e.status),
        count(*)
    FROM ended AS e
    WHERE e.subject_type = 'DELIVERY'
    GROUP BY e.status
    UNION ALL
    SELECT
        'omd_agreement_deliveries_total',
        'omd_agreement_deliveries_total',
        jsonb_build_object('agreement', e.code, 'status', e.status),
        count(*)
    FROM ended AS e
    WHERE e.subject_type = 'DELIVERY'
    GROUP BY e.code, e.status
    UNION ALL
    SELECT
        'omd_tasks_dead_total',
        'omd_tasks_dead_total',
        jsonb_build_object(
            'family', split_part(e.code, '/', 1), 'task_type', split_part(e.code, '/', 2)
        ),
        count(*)
    FROM ended AS e
    WHERE e.event_type = 'TASK_DEAD'
    GROUP BY e.code
    UNION ALL
    SELECT
        'omd_schedule_failures_total',
        'omd_schedule_failures_total',
        jsonb_build_object('schedule', e.code),
        count(*)
    FROM ended AS e
    WHERE e.event_type = 'SCHEDULE_FAILED'
    GROUP BY e.code
)

SELECT
    s.metric_name,
    s.sample_name,
    s.labels,
    s.value
FROM samples AS s;

COMMENT ON VIEW omd_event.uncounted IS
'For rooms: What the events that were published and are not counted yet add to the counters.';
COMMENT ON COLUMN omd_event.uncounted.metric_name IS 'The metric.';
COMMENT ON COLUMN omd_event.uncounted.sample_name IS 'The name of the series.';
COMMENT ON COLUMN omd_event.uncounted.labels IS 'Its labels and their values.';
COMMENT ON COLUMN omd_event.uncounted.value IS
'What is added; of the time of the last success, the time itself.';
