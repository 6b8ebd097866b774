-- The days come from a series, and each day reads its own instances: a condition on the day of an
-- instance could not reach the index.

CREATE OR REPLACE VIEW omd_report.throughput_per_day AS
SELECT
    d.day,
    i.instances,
    i.executing,
    i.succeeded,
    i.failed,
    i.aborted,
    i.skipped,
    i.rows_input,
    i.rows_inserted,
    i.rows_updated,
    i.rows_deleted,
    i.rows_discarded,
    i.rows_rejected,
    coalesce(i.load_time, interval '0') AS load_time,
    round(
        i.rows_loaded / nullif(extract(EPOCH FROM i.load_time), 0), 1
    )::double precision AS rows_per_second
FROM (SELECT current_date - n AS day FROM generate_series(0, 365) AS s (n)) AS d
CROSS JOIN
    LATERAL (
        SELECT
            count(*) AS instances,
            count(*) FILTER (WHERE mi.execution_status_code = 'E') AS executing,
            count(*) FILTER (WHERE mi.execution_status_code = 'S') AS succeeded,
            count(*) FILTER (WHERE mi.execution_status_code = 'F') AS failed,
            count(*) FILTER (WHERE mi.execution_status_code = 'A') AS aborted,
            count(*) FILTER (WHERE mi.execution_status_code = 'C') AS skipped,
            sum(mi.rows_input) AS rows_input,
            sum(mi.rows_inserted) AS rows_inserted,
            sum(mi.rows_updated) AS rows_updated,
            sum(mi.rows_deleted) AS rows_deleted,
            sum(mi.rows_discarded) AS rows_discarded,
            sum(mi.rows_rejected) AS rows_rejected,
            sum(mi.rows_inserted::numeric + mi.rows_updated + mi.rows_deleted)
            FILTER (WHERE mi.execution_status_code = 'S') AS rows_loaded,
            sum(mi.end_datetime - mi.start_datetime)
            FILTER (WHERE mi.execution_status_code = 'S') AS load_time
        FROM omd.module_instance AS mi
        WHERE
            mi.start_datetime >= d.day::timestamptz
            AND mi.start_datetime < (d.day + 1)::timestamptz
    ) AS i
WHERE i.instances > 0;

COMMENT ON VIEW omd_report.throughput_per_day IS
'For rooms: '
'Module Instances and their rows, by the day on which they started, for the last 366 days. A day '
'without instances has no row. A condition on day is served by an index.';
COMMENT ON COLUMN omd_report.throughput_per_day.day IS 'The day, in the time zone of the session.';
COMMENT ON COLUMN omd_report.throughput_per_day.instances IS 'The Module Instances that started.';
COMMENT ON COLUMN omd_report.throughput_per_day.executing IS 'How many of them still execute.';
COMMENT ON COLUMN omd_report.throughput_per_day.succeeded IS 'How many of them succeeded.';
COMMENT ON COLUMN omd_report.throughput_per_day.failed IS 'How many of them failed.';
COMMENT ON COLUMN omd_report.throughput_per_day.aborted IS 'How many of them were aborted.';
COMMENT ON COLUMN omd_report.throughput_per_day.skipped IS 'How many of them were skipped.';
COMMENT ON COLUMN omd_report.throughput_per_day.rows_input IS 'Rows read.';
COMMENT ON COLUMN omd_report.throughput_per_day.rows_inserted IS 'Rows inserted.';
COMMENT ON COLUMN omd_report.throughput_per_day.rows_updated IS 'Rows updated.';
COMMENT ON COLUMN omd_report.throughput_per_day.rows_deleted IS 'Rows deleted.';
COMMENT ON COLUMN omd_report.throughput_per_day.rows_discarded IS 'Rows left out on purpose.';
COMMENT ON COLUMN omd_report.throughput_per_day.rows_rejected IS 'Rows refused as bad.';
COMMENT ON COLUMN omd_report.throughput_per_day.load_time IS
'The durations of the succeeded instances, added up. Runs at the same time each count in full.';
COMMENT ON COLUMN omd_report.throughput_per_day.rows_per_second IS
'Rows inserted, updated and deleted by succeeded instances, per second of load_time; NULL when '
'load_time is zero or no instance succeeded.';
