-- Returns what the runs of the demo of doors have done since it began, each beside its event: a
-- begin, an end, an undo. What never proceeded has no event. A row without a number lacks its
-- event, and one that no run has done is an event of nothing.

WITH demo AS (
    SELECT b.began_at FROM doors.began AS b
),

run AS (
    SELECT l.*
    FROM omd_report.module_execution_log AS l
    WHERE
        l.module_code IN ('m_doors_sale', 'm_doors_total')
        AND l.processing_indicator IN ('P', 'R')
),

batch AS (
    SELECT l.*
    FROM omd_report.batch_execution_log AS l
    WHERE l.batch_code = 'b_doors' AND l.processing_indicator = 'P'
),

status (code, ending) AS (
    VALUES ('S', 'SUCCEEDED'), ('F', 'FAILED'), ('A', 'ABORTED'), ('C', 'ABORTED')
),

happened (event_type, subject_id, code, at) AS (
    SELECT
        'RUN_BEGAN',
        r.module_instance_id,
        r.module_code,
        r.start_datetime
    FROM run AS r
    UNION ALL
    SELECT
        'RUN_' || s.ending,
        r.module_instance_id,
        r.module_code,
        r.end_datetime
    FROM run AS r
    INNER JOIN status AS s ON r.execution_status_code = s.code
    UNION ALL
    SELECT
        'RUN_UNDONE',
        r.module_instance_id,
        r.module_code,
        u.start_datetime
    FROM run AS r
    INNER JOIN run AS u ON r.rolled_back_by_module_instance_id = u.module_instance_id
    UNION ALL
    SELECT
        'BATCH_BEGAN',
        b.batch_instance_id,
        b.batch_code,
        b.start_datetime
    FROM batch AS b
    UNION ALL
    SELECT
        'BATCH_' || s.ending,
        b.batch_instance_id,
        b.batch_code,
        b.end_datetime
    FROM batch AS b
    INNER JOIN status AS s ON b.execution_status_code = s.code
),

done AS (
    SELECT h.*
    FROM happened AS h
    INNER JOIN demo AS d ON h.at >= d.began_at
),

published AS (
    SELECT e.*
    FROM omd_report.events AS e
    INNER JOIN demo AS d ON e.event_datetime >= d.began_at
    WHERE e.code IN ('b_doors', 'm_doors_sale', 'm_doors_total') AND e.subject_type <> 'PROBLEM'
)

SELECT
    p.event_number,
    coalesce(p.event_type, d.event_type) AS event_type,
    coalesce(p.subject_id, d.subject_id) AS subject_id,
    coalesce(p.code, d.code) AS code,
    d.event_type IS NOT NULL AS is_of_run
FROM done AS d
FULL JOIN published AS p
    ON d.event_type = p.event_type AND d.subject_id = p.subject_id AND d.code = p.code
ORDER BY p.event_number, d.at;
