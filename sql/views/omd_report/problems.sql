-- Each room says what is wrong with what it holds, so a new problem is a row of its room's view.

CREATE OR REPLACE VIEW omd_report.problems AS
SELECT
    p.problem_code,
    p.severity,
    p.room,
    p.object_kind,
    p.object_key,
    p.subject,
    p.since,
    p.text,
    p.way_out
FROM omd.problem_list AS p
UNION ALL
SELECT
    p.problem_code,
    p.severity,
    p.room,
    p.object_kind,
    p.object_key,
    p.subject,
    p.since,
    p.text,
    p.way_out
FROM omd_lineage.problem_list AS p
UNION ALL
SELECT
    p.problem_code,
    p.severity,
    p.room,
    p.object_kind,
    p.object_key,
    p.subject,
    p.since,
    p.text,
    p.way_out
FROM omd_dispatch.problem_list AS p
UNION ALL
SELECT
    p.problem_code,
    p.severity,
    p.room,
    p.object_kind,
    p.object_key,
    p.subject,
    p.since,
    p.text,
    p.way_out
FROM omd_delivery.problem_list AS p
UNION ALL
SELECT
    p.problem_code,
    p.severity,
    p.room,
    p.object_kind,
    p.object_key,
    p.subject,
    p.since,
    p.text,
    p.way_out
FROM omd_report.undone_read_problems AS p
UNION ALL
SELECT
    p.problem_code,
    p.severity,
    p.room,
    p.object_kind,
    p.object_key,
    p.subject,
    p.since,
    p.text,
    p.way_out
FROM omd_decision.problem_list AS p
UNION ALL
SELECT
    p.problem_code,
    p.severity,
    p.room,
    p.object_kind,
    p.object_key,
    p.subject,
    p.since,
    p.text,
    p.way_out
FROM omd_event.problem_list AS p;

COMMENT ON VIEW omd_report.problems IS
'What somebody should look at, in all rooms, and the command that mends it. No row of business '
'data is in it.';
COMMENT ON COLUMN omd_report.problems.problem_code IS
'LAST_RUN_FAILED, GIVEN_UP, TASKS_DEAD, SOURCE_PROBLEM, UNDONE_READ, DELIVERY_REFUSED, '
'ARRIVAL_UNFIT, ARRIVAL_CHANGED, LOCATION_UNREADABLE, WINDOW_UNSAFE, NOT_RUN, ROLLBACK_PENDING, '
'LEASE_EXPIRED, ROWS_OF_DEAD_RUN, SOURCE_STALE, NEWEST_WAITS, NO_BACKEND, SCHEDULE_PROBLEM, '
'SINK_PROBLEM or EVENTS_PURGED.';
COMMENT ON COLUMN omd_report.problems.severity IS
'ERROR: LAST_RUN_FAILED, GIVEN_UP, TASKS_DEAD. WARNING: all others.';
COMMENT ON COLUMN omd_report.problems.room IS 'The room that says so.';
COMMENT ON COLUMN omd_report.problems.object_kind IS
'What object_key names: MODULE, BATCH, MODULE_INSTANCE, TASK_TYPE, DELIVERY, ARRIVAL, LOCATION, '
'SOURCE, STAGE, SCHEDULE or SINK.';
COMMENT ON COLUMN omd_report.problems.object_key IS
'Its id or code; of a LOCATION the agreement, of a TASK_TYPE family/type.';
COMMENT ON COLUMN omd_report.problems.subject IS 'What it is about, in words.';
COMMENT ON COLUMN omd_report.problems.since IS 'Since when; NULL when that is not known.';
COMMENT ON COLUMN omd_report.problems.text IS
'What is wrong; of a failure the whole text for who has omd_data_reader, else no value of a row.';
COMMENT ON COLUMN omd_report.problems.way_out IS
'The command that mends it, on a shell or in SQL.';
