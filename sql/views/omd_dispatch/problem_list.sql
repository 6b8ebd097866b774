-- The errors of tasks stay where they are: behind them may stand values of rows.

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
        '%s%s are dead: their attempts are used up.',
        d.dead,
        CASE WHEN NOT d.is_all THEN ' or more' END
    ) AS text,
    CASE
        WHEN d.dead <= 20 AND d.is_all
            THEN 'omd dispatch revive ' || array_to_string(d.task_ids, ' ')
        ELSE
            format(
                'omd dispatch dead --family %s --type %s --limit 10000 --output json'
                ' | jq .[].task_id | xargs -r omd dispatch revive',
                d.family_code, d.task_type
            )
    END AS way_out
FROM omd_dispatch._dead_types() AS d;

COMMENT ON VIEW omd_dispatch.problem_list IS
'For rooms: the types of tasks of which some are dead, as omd_report.problems shows them.';
COMMENT ON COLUMN omd_dispatch.problem_list.problem_code IS
'TASKS_DEAD: the attempts of tasks are used up.';
COMMENT ON COLUMN omd_dispatch.problem_list.severity IS 'ERROR.';
COMMENT ON COLUMN omd_dispatch.problem_list.room IS 'The room that says so.';
COMMENT ON COLUMN omd_dispatch.problem_list.object_kind IS 'TASK_TYPE.';
COMMENT ON COLUMN omd_dispatch.problem_list.object_key IS 'family/type.';
COMMENT ON COLUMN omd_dispatch.problem_list.subject IS 'What it is about, in words.';
COMMENT ON COLUMN omd_dispatch.problem_list.since IS 'When the first of them died.';
COMMENT ON COLUMN omd_dispatch.problem_list.text IS 'How many they are.';
COMMENT ON COLUMN omd_dispatch.problem_list.way_out IS 'The command that tries them again.';
