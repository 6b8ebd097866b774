-- A plain task has a way of its own (_create_one_sql); any other is an array of one for
-- _insert_tasks.

CREATE OR REPLACE PROCEDURE omd_dispatch.create_task(
    p_family_code text,
    p_task_type text,
    p_criteria jsonb DEFAULT NULL,
    p_payload jsonb DEFAULT NULL,
    p_execution_time timestamptz DEFAULT NULL,
    p_priority integer DEFAULT NULL,
    p_on_duplicate text DEFAULT NULL,
    INOUT p_task_id bigint DEFAULT NULL,
    INOUT p_is_new boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $create_task$
DECLARE
    v_answer record;
BEGIN
    p_task_id := omd_dispatch._create_new_task(
        p_family_code, p_task_type, p_criteria, p_payload, p_execution_time, p_priority,
        p_on_duplicate
    );
    IF p_task_id IS NOT NULL THEN
        p_is_new := p_task_id >= 0;
        IF NOT p_is_new THEN
            p_task_id := ~p_task_id;
        END IF;
        RETURN;
    END IF;
    IF num_nonnulls(p_criteria, p_execution_time, p_priority, p_on_duplicate) > 0 THEN
        PERFORM omd_dispatch._require_task_arguments(
            p_criteria, p_execution_time, p_priority, p_on_duplicate
        );
    END IF;
    v_answer := omd_dispatch._insert_tasks(
        p_family_code,
        p_task_type,
        jsonb_build_array(
            jsonb_strip_nulls(
                jsonb_build_object('execution_time', p_execution_time, 'priority', p_priority)
            )
            || jsonb_build_object('criteria', p_criteria, 'payload', p_payload)
        ),
        coalesce(p_on_duplicate, 'ERROR')
    );
    p_task_id := v_answer.p_task_ids[1];
    p_is_new := v_answer.p_created = 1;
    IF omd.is_by_hand() THEN
        PERFORM omd_dispatch._note_created(p_family_code, p_task_type, p_task_id, p_is_new);
    END IF;
END
$create_task$;

COMMENT ON PROCEDURE omd_dispatch.create_task IS
'Creates a task of the type p_task_type in p_family_code and returns p_task_id and p_is_new. '
'p_criteria: its criteria, as {"CODE": "b_flights"}. p_payload: what its handler needs. '
'p_execution_time: when it is due (now). p_priority: 0, taken first, to 9 (5). p_on_duplicate: '
'what to do when a live task has the same key: ERROR (the default) raises, EXISTING returns that '
'task. Errors: OM005: family or type is NULL; OM013: an argument is not allowed; OM014: the '
'isolation level is not read committed; OM070, OM071: family or type is unknown; OM075: the model '
'lacks a criterion; OM076: a criterion is missing; OM077: one is forbidden; OM078: a value is not '
'of its type, or too long for an index; OM170: a live task has the key. Locks: the key; it waits '
'for those who create or end a task with it.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.create_task TO omd_runner, omd_admin;
