-- All tasks are created or none: a caller who hears of one mistake repeats the call as it is.

CREATE OR REPLACE PROCEDURE omd_dispatch.create_tasks(
    p_family_code text,
    p_task_type text,
    p_tasks jsonb,
    p_on_duplicate text DEFAULT NULL,
    INOUT p_task_ids bigint[] DEFAULT NULL,
    INOUT p_created bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
AS $create_tasks$
DECLARE
    v_answer record;
    v_problem text;
BEGIN
    IF p_tasks IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_tasks'));
    ELSIF jsonb_typeof(p_tasks) <> 'array' OR EXISTS (
        SELECT FROM jsonb_array_elements(p_tasks) AS t (task)
        WHERE jsonb_typeof(t.task) <> 'object'
            OR t.task - '{criteria,payload,execution_time,priority}'::text[] <> '{}'
    ) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_tasks',
                'value', left(p_tasks::text, 60),
                'expected',
                'an array of objects with criteria, payload, execution_time and priority'
            )
        );
    END IF;
    PERFORM omd_dispatch._require_task_arguments(NULL, NULL, NULL, p_on_duplicate);
    BEGIN
        PERFORM omd_dispatch._require_task_arguments(
            t.task -> 'criteria',
            (t.task ->> 'execution_time')::timestamptz,
            (t.task ->> 'priority')::integer,
            NULL
        )
        FROM jsonb_array_elements(p_tasks) AS t (task)
        WHERE t.task ?| ARRAY['execution_time', 'priority']
            OR jsonb_typeof(t.task -> 'criteria') NOT IN ('object', 'null');
    EXCEPTION
        WHEN data_exception THEN
            v_problem := sqlerrm;
    END;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_tasks',
                'value', left(p_tasks::text, 60),
                'expected', 'of times and numbers (' || v_problem || ')'
            )
        );
    END IF;
    v_answer := omd_dispatch._insert_tasks(
        p_family_code, p_task_type, p_tasks, coalesce(p_on_duplicate, 'ERROR')
    );
    p_task_ids := v_answer.p_task_ids;
    p_created := v_answer.p_created;
END
$create_tasks$;

COMMENT ON PROCEDURE omd_dispatch.create_tasks IS
'Creates tasks of the type p_task_type in p_family_code, all or none. p_tasks: an array of '
'{"criteria", "payload", "execution_time", "priority"}, each as in create_task. p_on_duplicate: as'
' there. Returns p_task_ids, in their order, and p_created, how many are new. Errors: OM005: '
'family, type or p_tasks is NULL; OM013: an argument is not allowed; OM014: the isolation level is'
' not read committed; OM070, OM071: family or type is unknown; OM075: the model lacks a criterion;'
' OM076: a criterion is missing; OM077: one is forbidden; OM078: a value is not of its type, or '
'too long for an index; OM170: a live task has the key. Locks: the keys; it waits for those who '
'create or end a task with one of them.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.create_tasks TO omd_runner, omd_admin;
