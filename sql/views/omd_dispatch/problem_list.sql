-- The errors of tasks stay where they are, and those of schedules are shown by their codes: behind
-- them may stand values of rows.

CREATE OR REPLACE VIEW omd_dispatch.problem_list AS
SELECT
    'TASKS_DEAD' AS problem_code,
    'ERROR' AS severity,
    'dispatch' AS room,
    'TASK_TYPE' AS object_kind,
    d.family_code || '/' || d.task_type AS object_key,
    format('tasks of %s/%s', d.family_code, d.task_type) AS subject,
    d.oldest AS since,
    format(
        CASE d.dead
            WHEN 1 THEN '1 is dead, task:%3$s: its attempts are used up.'
            ELSE '%1$s%2$s are dead, the first is task:%3$s: their attempts are used up.'
        END,
        d.dead,
        CASE WHEN NOT d.is_all THEN ' or more' END,
        d.task_ids[1]
    ) AS text,
    format(
        'omd call omd_dispatch.revive_tasks --counted-at now --filter %s',
        omd.shell_argument(
            jsonb_build_object(
                'family_code', d.family_code,
                'statuses', ARRAY['DEAD'],
                'task_types', ARRAY[d.task_type]
            )::text
        )
    ) AS way_out
FROM omd_dispatch._dead_types() AS d
UNION ALL
SELECT
    'NO_BACKEND' AS problem_code,
    'WARNING' AS severity,
    'dispatch' AS room,
    'TASK_TYPE' AS object_kind,
    u.family_code || '/' || u.task_type AS object_key,
    format('tasks of %s/%s', u.family_code, u.task_type) AS subject,
    u.oldest_due AS since,
    format('Tasks of it are due, and no worker of group %s lives.', u.deliver_id) AS text,
    'omd worker --group ' || u.deliver_id AS way_out
FROM omd_dispatch._unserved_types() AS u
UNION ALL
SELECT
    'SCHEDULE_PROBLEM' AS problem_code,
    'WARNING' AS severity,
    'dispatch' AS room,
    'SCHEDULE' AS object_kind,
    s.schedule_code AS object_key,
    'schedule ' || s.schedule_code AS subject,
    CASE WHEN s.failed_time = s.next_time THEN s.failed_time END AS since,
    omd.shown_error(
        substring(s.problem FROM '^([0-9A-Z]{5}): '),
        regexp_replace(s.problem, '^[0-9A-Z]{5}: ', '')
    ) AS text,
    format('CALL omd_dispatch.fire_schedule(%L);', s.schedule_code) AS way_out
FROM omd_dispatch.task_schedule AS s
WHERE s.inactive_indicator = 'N' AND s.problem IS NOT NULL;

COMMENT ON VIEW omd_dispatch.problem_list IS
'For rooms: the types of tasks and the schedules that somebody should look at, as '
'omd_report.problems shows them.';
COMMENT ON COLUMN omd_dispatch.problem_list.problem_code IS
'TASKS_DEAD: the attempts of tasks are used up. NO_BACKEND: tasks are due, and no worker of their '
'group lives. SCHEDULE_PROBLEM: the last firing of a schedule failed.';
COMMENT ON COLUMN omd_dispatch.problem_list.severity IS 'ERROR: TASKS_DEAD. WARNING: the others.';
COMMENT ON COLUMN omd_dispatch.problem_list.room IS 'The room that says so.';
COMMENT ON COLUMN omd_dispatch.problem_list.object_kind IS 'TASK_TYPE or SCHEDULE.';
COMMENT ON COLUMN omd_dispatch.problem_list.object_key IS 'family/type, or the schedule.';
COMMENT ON COLUMN omd_dispatch.problem_list.subject IS 'What it is about, in words.';
COMMENT ON COLUMN omd_dispatch.problem_list.since IS
'When the first of them died or was due, or for which time a schedule fails; NULL when that is '
'not known.';
COMMENT ON COLUMN omd_dispatch.problem_list.text IS 'What is wrong, without values of rows.';
COMMENT ON COLUMN omd_dispatch.problem_list.way_out IS 'What mends it.';
