-- Each branch reads indexes per Batch, per Module or per executing instance, so the cost does not
-- grow with history. Two bounds stand where = would let the planner walk a primary key backwards,
-- past the newer instances of others.

CREATE OR REPLACE VIEW omd_report.exceptions AS
-- The last real run has failed.
SELECT
    'LAST_RUN_FAILED'::text AS exception_code,
    'BATCH'::text AS instance_type,
    bi.batch_code AS code,
    bi.batch_instance_id AS instance_id,
    bi.end_datetime AS since_datetime,
    (
        SELECT
            coalesce(
                omd.failure_text(e.event_return_code_details, e.event_detail, NULL),
                e.event_return_code_details
            )
        FROM omd.event_log AS e
        WHERE
            e.batch_instance_id = bi.batch_instance_id
            AND e.batch_instance_id <> 0
            AND e.module_instance_id = 0
            AND e.event_type_code = 2
            AND e.event_datetime >= bi.end_datetime
        ORDER BY e.event_id
        LIMIT 1
    ) AS detail
FROM omd.failed_batch AS bi
UNION ALL
SELECT
    'LAST_RUN_FAILED' AS exception_code,
    'MODULE' AS instance_type,
    m.module_code AS code,
    mi.module_instance_id AS instance_id,
    mi.end_datetime AS since_datetime,
    (
        SELECT
            coalesce(
                omd.failure_text(e.event_return_code_details, e.event_detail, m.module_id),
                e.event_return_code_details
            )
        FROM omd.event_log AS e
        WHERE
            e.module_instance_id = mi.module_instance_id
            AND e.module_instance_id <> 0
            AND e.event_type_code = 2
            AND e.event_datetime >= mi.end_datetime
        ORDER BY e.event_id
        LIMIT 1
    ) AS detail
FROM omd.module AS m
CROSS JOIN
    LATERAL (
        SELECT
            n.module_instance_id,
            n.execution_status_code,
            n.end_datetime
        FROM omd.module_instance AS n
        WHERE n.module_instance_id = omd._last_real_module_run(m.module_id)
        ORDER BY n.module_instance_id
        LIMIT 1
    ) AS mi
WHERE mi.execution_status_code = 'F'
UNION ALL
-- It has been executing for more than a minute, and for more than three times the median of its
-- last 20 successes, of which there must be at least three.
SELECT
    'RUNNING_LONG' AS exception_code,
    'BATCH' AS instance_type,
    b.batch_code AS code,
    bi.batch_instance_id AS instance_id,
    bi.start_datetime AS since_datetime,
    'a run usually takes ' || date_trunc('second', h.median) AS detail
FROM omd.batch_instance AS bi
INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id
CROSS JOIN
    LATERAL (
        SELECT
            count(*) AS runs,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY s.duration) AS median
        FROM (
            SELECT p.end_datetime - p.start_datetime AS duration
            FROM omd.batch_instance AS p
            WHERE
                p.batch_id >= bi.batch_id
                AND p.batch_id <= bi.batch_id
                AND p.execution_status_code = 'S'
            ORDER BY p.batch_id DESC, p.batch_instance_id DESC
            LIMIT 20
        ) AS s
    ) AS h
WHERE
    bi.execution_status_code = 'E'
    AND h.runs >= 3
    AND statement_timestamp() - bi.start_datetime > greatest(3 * h.median, interval '1 minute')
UNION ALL
SELECT
    'RUNNING_LONG' AS exception_code,
    'MODULE' AS instance_type,
    m.module_code AS code,
    mi.module_instance_id AS instance_id,
    mi.start_datetime AS since_datetime,
    'a run usually takes ' || date_trunc('second', h.median) AS detail
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
CROSS JOIN
    LATERAL (
        SELECT
            count(*) AS runs,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY s.duration) AS median
        FROM (
            SELECT p.end_datetime - p.start_datetime AS duration
            FROM omd.module_instance AS p
            WHERE
                p.module_id >= mi.module_id
                AND p.module_id <= mi.module_id
                AND p.execution_status_code = 'S'
            ORDER BY p.module_id DESC, p.module_instance_id DESC
            LIMIT 20
        ) AS s
    ) AS h
WHERE
    mi.execution_status_code = 'E'
    AND h.runs >= 3
    AND statement_timestamp() - mi.start_datetime > greatest(3 * h.median, interval '1 minute')
UNION ALL
-- Its lease has expired: the run is dead, and the next begin declares it so.
SELECT
    'LEASE_EXPIRED' AS exception_code,
    l.instance_type,
    l.code,
    l.instance_id,
    l.since_datetime,
    l.detail
FROM omd.expired_lease AS l
UNION ALL
-- The last real run started two intervals of the frequency ago, or there was none, and nothing
-- executes.
SELECT
    'NOT_RUN' AS exception_code,
    'BATCH' AS instance_type,
    o.batch_code AS code,
    o.batch_instance_id AS instance_id,
    o.since_datetime,
    'frequency ' || o.frequency_code AS detail
FROM omd.overdue_batch AS o
UNION ALL
SELECT
    'NOT_RUN' AS exception_code,
    'MODULE' AS instance_type,
    m.module_code AS code,
    mi.module_instance_id AS instance_id,
    mi.start_datetime AS since_datetime,
    'frequency ' || f.frequency_code || ' of Batch ' || f.batch_code AS detail
FROM omd.module AS m
CROSS JOIN
    LATERAL (
        SELECT
            b.batch_code,
            b.frequency_code,
            o.frequency_interval
        FROM omd.batch_module AS bm
        INNER JOIN omd.batch AS b ON bm.batch_id = b.batch_id
        INNER JOIN omd.frequency AS o ON b.frequency_code = o.frequency_code
        WHERE
            bm.module_id = m.module_id
            AND bm.inactive_indicator = 'N'
            AND b.inactive_indicator = 'N'
            AND o.frequency_interval IS NOT NULL
        ORDER BY o.frequency_interval, b.batch_code
        LIMIT 1
    ) AS f
LEFT JOIN omd.module_instance AS mi
    ON mi.module_instance_id = omd._last_real_module_run(m.module_id)
WHERE
    m.inactive_indicator = 'N'
    AND coalesce(mi.start_datetime, '-infinity') + 2 * f.frequency_interval < statement_timestamp()
    AND NOT EXISTS (
        SELECT FROM omd.module_instance AS e
        WHERE e.module_id = m.module_id AND e.execution_status_code = 'E'
    )
UNION ALL
-- It is skipped because somebody set it inactive.
SELECT
    'DISABLED' AS exception_code,
    'BATCH' AS instance_type,
    d.code,
    NULL AS instance_id,
    NULL AS since_datetime,
    string_agg(d.detail, ', ' ORDER BY d.detail) AS detail
FROM (
    SELECT
        b.batch_code AS code,
        'everywhere' AS detail
    FROM omd.batch AS b
    WHERE b.inactive_indicator = 'Y'
    UNION ALL
    SELECT
        b.batch_code AS code,
        'under Batch ' || parent.batch_code AS detail
    FROM omd.batch_hierarchy AS bh
    INNER JOIN omd.batch AS b ON bh.batch_id = b.batch_id
    INNER JOIN omd.batch AS parent ON bh.parent_batch_id = parent.batch_id
    WHERE bh.inactive_indicator = 'Y'
) AS d
GROUP BY d.code
UNION ALL
SELECT
    'DISABLED' AS exception_code,
    'MODULE' AS instance_type,
    d.code,
    NULL AS instance_id,
    NULL AS since_datetime,
    string_agg(d.detail, ', ' ORDER BY d.detail) AS detail
FROM (
    SELECT
        m.module_code AS code,
        'everywhere' AS detail
    FROM omd.module AS m
    WHERE m.inactive_indicator = 'Y'
    UNION ALL
    SELECT
        m.module_code AS code,
        'in Batch ' || b.batch_code AS detail
    FROM omd.batch_module AS bm
    INNER JOIN omd.module AS m ON bm.module_id = m.module_id
    INNER JOIN omd.batch AS b ON bm.batch_id = b.batch_id
    WHERE bm.inactive_indicator = 'Y'
) AS d
GROUP BY d.code
UNION ALL
-- It lacks something that a rollback needs, which would otherwise show only after its first
-- failure.
SELECT
    'NOT_READY' AS exception_code,
    'MODULE' AS instance_type,
    r.module_code AS code,
    NULL AS instance_id,
    NULL AS since_datetime,
    string_agg(r.problem, '; ' ORDER BY r.severity, r.problem) AS detail
FROM omd_report.readiness AS r
-- What a Module reads is a question of a recall, and no exception.
WHERE r.problem_code <> 'INPUTS_UNKNOWN'
GROUP BY r.module_code;

COMMENT ON VIEW omd_report.exceptions IS
'What needs attention: at most one row of each kind for each Batch and Module.';
COMMENT ON COLUMN omd_report.exceptions.exception_code IS
'LAST_RUN_FAILED: its last real run failed. RUNNING_LONG: it has been executing for more than a '
'minute and more than 3 times the median of its last 20 successes. LEASE_EXPIRED: its run is '
'dead. NOT_RUN: it has not run for 2 intervals of its frequency; a Module has the shortest '
'frequency of its active Batches. DISABLED: it is inactive. NOT_READY: omd_report.readiness has a '
'problem of it other than INPUTS_UNKNOWN.';
COMMENT ON COLUMN omd_report.exceptions.instance_type IS 'BATCH or MODULE.';
COMMENT ON COLUMN omd_report.exceptions.code IS 'The code of the Batch or Module.';
COMMENT ON COLUMN omd_report.exceptions.instance_id IS
'The instance that failed, executes or ran last; NULL when there is none.';
COMMENT ON COLUMN omd_report.exceptions.since_datetime IS
'When it failed, when it started, when its lease expired or when it last ran; NULL when that is '
'not known.';
COMMENT ON COLUMN omd_report.exceptions.detail IS
'The error, or what was expected; NULL when there is none.';
