-- Returns what is in the tables of the demo of decisions: rows, distinct flights, rows that do not
-- carry the newest run of the stage that fills the table, and a checksum, as in the proof of the
-- other demos. `omd demo decision` computes the same from the source files.

WITH run AS MATERIALIZED (
    SELECT
        l.stage_code,
        max(l.module_instance_id) AS module_instance_id
    FROM omd_report.decision_run_log AS l
    WHERE l.execution_status_code = 'S'
    GROUP BY l.stage_code
),

decision AS (
    SELECT
        'care.decision' AS table_code,
        'flight_care' AS stage_code,
        d.*
    FROM care.decision AS d
    UNION ALL
    SELECT
        'care.january' AS table_code,
        'january_care' AS stage_code,
        j.*
    FROM care.january AS j
),

target (table_code, row_key, stage_code, module_instance_id, line) AS (
    SELECT
        d.table_code,
        d.id,
        d.stage_code,
        d.omd_insert_module_instance_id,
        concat_ws(
            '|', d.id, d.carrier, d.flight,
            coalesce(d.delay::text, 'NA'), d.care, d.dollars,
            d.omd_wave, d.omd_key ->> 'origin',
            to_char(
                (d.omd_key ->> 'hour')::timestamptz AT TIME ZONE 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS"Z"'
            ),
            d.omd_cycle_no
        )
    FROM decision AS d
    UNION ALL
    SELECT
        'rejected weather',
        r.arrival,
        r.stage_code,
        r.module_instance_id,
        concat_ws('|', r.arrival, r.wave, r.code)
    FROM omd_report.decision_reject_log AS r
    INNER JOIN run ON r.module_instance_id = run.module_instance_id
    WHERE r.stage_code = 'flight_care' AND r.link = 'weather'
)

SELECT
    t.table_code,
    count(*) AS rows,
    count(DISTINCT t.row_key) AS keys,
    count(*) FILTER (WHERE run.stage_code IS NULL) AS strangers,
    sum(('x' || left(md5(t.line), 15))::bit(60)::bigint) AS checksum
FROM target AS t
LEFT JOIN run
    ON t.stage_code = run.stage_code AND t.module_instance_id = run.module_instance_id
GROUP BY t.table_code;
