-- The days come from a series, and each day reads its own instances, as in throughput_per_day: a
-- condition on the day of an instance could not reach the index.

CREATE OR REPLACE VIEW omd_report.cumulative_load_time AS
WITH last_days AS NOT MATERIALIZED (
    SELECT current_date - n AS day FROM generate_series(0, 365) AS s (n)
)

SELECT
    d.day,
    'MODULE'::text AS instance_type,
    m.module_code AS code,
    i.runs,
    i.failed_runs,
    i.total_duration,
    i.total_duration / i.runs AS average_duration,
    i.longest_duration,
    i.rows_input,
    i.rows_inserted,
    i.rows_updated,
    i.rows_deleted
FROM last_days AS d
CROSS JOIN
    LATERAL (
        SELECT
            mi.module_id,
            count(*) AS runs,
            count(*) FILTER (WHERE mi.execution_status_code = 'F') AS failed_runs,
            sum(mi.end_datetime - mi.start_datetime) AS total_duration,
            max(mi.end_datetime - mi.start_datetime) AS longest_duration,
            sum(mi.rows_input) AS rows_input,
            sum(mi.rows_inserted) AS rows_inserted,
            sum(mi.rows_updated) AS rows_updated,
            sum(mi.rows_deleted) AS rows_deleted
        FROM omd.module_instance AS mi
        WHERE
            mi.start_datetime >= d.day::timestamptz
            AND mi.start_datetime < (d.day + 1)::timestamptz
            AND mi.execution_status_code IN ('S', 'F')
        GROUP BY mi.module_id
    ) AS i
INNER JOIN omd.module AS m ON i.module_id = m.module_id
UNION ALL
SELECT
    d.day,
    'BATCH' AS instance_type,
    b.batch_code AS code,
    i.runs,
    i.failed_runs,
    i.total_duration,
    i.total_duration / i.runs AS average_duration,
    i.longest_duration,
    i.rows_input,
    i.rows_inserted,
    i.rows_updated,
    i.rows_deleted
FROM last_days AS d
CROSS JOIN
    LATERAL (
        SELECT
            bi.batch_id,
            count(*) AS runs,
            count(*) FILTER (WHERE bi.execution_status_code = 'F') AS failed_runs,
            sum(bi.end_datetime - bi.start_datetime) AS total_duration,
            max(bi.end_datetime - bi.start_datetime) AS longest_duration,
            sum(r.rows_input) AS rows_input,
            sum(r.rows_inserted) AS rows_inserted,
            sum(r.rows_updated) AS rows_updated,
            sum(r.rows_deleted) AS rows_deleted
        FROM omd.batch_instance AS bi
        CROSS JOIN
            LATERAL (
                SELECT
                    coalesce(sum(mi.rows_input), 0) AS rows_input,
                    coalesce(sum(mi.rows_inserted), 0) AS rows_inserted,
                    coalesce(sum(mi.rows_updated), 0) AS rows_updated,
                    coalesce(sum(mi.rows_deleted), 0) AS rows_deleted
                FROM omd.module_instance AS mi
                WHERE
                    mi.batch_instance_id = bi.batch_instance_id
                    AND mi.batch_instance_id <> 0
                    AND mi.execution_status_code IN ('S', 'F')
            ) AS r
        WHERE
            bi.start_datetime >= d.day::timestamptz
            AND bi.start_datetime < (d.day + 1)::timestamptz
            AND bi.execution_status_code IN ('S', 'F')
        GROUP BY bi.batch_id
    ) AS i
INNER JOIN omd.batch AS b ON i.batch_id = b.batch_id;

COMMENT ON VIEW omd_report.cumulative_load_time IS
'For rooms: '
'What the ended runs (S or F) of each Batch and Module have cost, by the day on which they '
'started, for the last 366 days. A condition on day is served by an index. For a longer span, add '
'up the days.';
COMMENT ON COLUMN omd_report.cumulative_load_time.day IS
'The day, in the time zone of the session.';
COMMENT ON COLUMN omd_report.cumulative_load_time.instance_type IS 'BATCH or MODULE.';
COMMENT ON COLUMN omd_report.cumulative_load_time.code IS 'The code of the Batch or Module.';
COMMENT ON COLUMN omd_report.cumulative_load_time.runs IS
'The number of runs that succeeded or failed.';
COMMENT ON COLUMN omd_report.cumulative_load_time.failed_runs IS 'How many of these runs failed.';
COMMENT ON COLUMN omd_report.cumulative_load_time.total_duration IS
'How long the runs took together.';
COMMENT ON COLUMN omd_report.cumulative_load_time.average_duration IS
'How long a run took on average.';
COMMENT ON COLUMN omd_report.cumulative_load_time.longest_duration IS
'How long the longest run took.';
COMMENT ON COLUMN omd_report.cumulative_load_time.rows_input IS
'Rows read. A Batch counts the Modules that it called itself, not those of its child Batches.';
COMMENT ON COLUMN omd_report.cumulative_load_time.rows_inserted IS
'Rows inserted, counted in the same way.';
COMMENT ON COLUMN omd_report.cumulative_load_time.rows_updated IS
'Rows updated, counted in the same way.';
COMMENT ON COLUMN omd_report.cumulative_load_time.rows_deleted IS
'Rows deleted, counted in the same way.';
