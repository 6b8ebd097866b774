-- The call of a bulk action is made from the action as that of one object is: its arguments are
-- those that the bulk procedure has too. What it takes from a row is a constant where there is no
-- row, such as the indicator R.

CREATE OR REPLACE FUNCTION omd_web.bulk(
    p_action_code text,
    p_filter jsonb,
    p_counted_at timestamptz,
    p_arguments jsonb DEFAULT '{}',
    p_reason text DEFAULT NULL,
    p_limit integer DEFAULT 10000,
    p_after_id bigint DEFAULT NULL
)
RETURNS TABLE (
    is_permitted boolean,
    why_not text,
    asks jsonb,
    count_statement text,
    statement text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $bulk$
DECLARE
    v_action omd_web.action := omd_web._require_action(p_action_code);
    v_is_task CONSTANT boolean := v_action.object_kind = 'TASK';
    v_filter jsonb := p_filter;
    v_values jsonb;
    v_routine pg_proc;
    v_given record;
    v_value text;
BEGIN
    IF v_action.bulk_routine IS NULL THEN
        PERFORM omd.raise_error(
            'OM098', jsonb_build_object('what', format('bulk action %s', p_action_code))
        );
    ELSIF p_filter IS NULL OR p_counted_at IS NULL THEN
        PERFORM omd.raise_error(
            'OM005',
            jsonb_build_object(
                'argument', CASE WHEN p_filter IS NULL THEN 'p_filter' ELSE 'p_counted_at' END
            )
        );
    END IF;
    -- The action says which of the two it is about.
    IF NOT v_is_task AND jsonb_typeof(v_filter) = 'object' THEN
        v_filter := v_filter || jsonb_build_object(
            'instance_type', replace(v_action.object_kind, '_INSTANCE', '')
        );
    END IF;
    SELECT p.* INTO v_routine FROM pg_proc AS p WHERE p.oid = v_action.bulk_routine::regproc;
    v_action.routine := v_action.bulk_routine;
    v_values := jsonb_strip_nulls(
        jsonb_build_object(
            'p_filter', v_filter::text, 'p_counted_at', p_counted_at::text, 'p_limit', p_limit::text,
            CASE WHEN v_is_task THEN 'p_after_task_id' ELSE 'p_after_instance_id' END,
            p_after_id::text
        )
    );
    FOR v_given IN
        SELECT a.key, a.value ->> 'sql' AS expression
        FROM jsonb_each(v_action.arguments) AS a
        WHERE a.value ? 'sql' AND a.key = ANY(v_routine.proargnames)
    LOOP
        EXECUTE format('SELECT (%s)::text', v_given.expression) INTO v_value;
        v_values := v_values || jsonb_build_object(v_given.key, v_value);
    END LOOP;
    SELECT
        jsonb_object_agg(
            a.key,
            CASE
                WHEN a.value ? 'ask' THEN a.value || jsonb_build_object(
                    'type', format_type(
                        v_routine.proallargtypes[array_position(v_routine.proargnames, a.key)], NULL
                    )
                )
                ELSE '{"sql": ""}'
            END
        )
    INTO v_action.arguments
    FROM (
        SELECT b.key, b.value FROM jsonb_each(v_action.arguments) AS b
        WHERE b.value ? 'ask'
        UNION ALL
        SELECT v.key, '{}'::jsonb FROM jsonb_object_keys(v_values) AS v (key)
    ) AS a (key, value)
    WHERE a.key = ANY(v_routine.proargnames);
    SELECT coalesce(jsonb_object_agg(a.key, a.value), '{}') INTO asks
    FROM jsonb_each(v_action.arguments) AS a
    WHERE a.value ? 'ask';
    is_permitted := has_schema_privilege(v_routine.pronamespace, 'USAGE')
        AND has_function_privilege(v_routine.oid, 'EXECUTE');
    IF NOT is_permitted THEN
        SELECT 'it needs the role ' || string_agg(r.rolname, ' or ' ORDER BY r.rolname) INTO why_not
        FROM aclexplode(v_routine.proacl) AS x
        INNER JOIN pg_roles AS r ON x.grantee = r.oid
        WHERE x.privilege_type = 'EXECUTE' AND x.grantee <> v_routine.proowner;
    END IF;
    count_statement := format(
        'SELECT %s(%s::jsonb, %s::timestamptz);',
        CASE WHEN v_is_task THEN 'omd_dispatch.count_tasks' ELSE 'omd.count_instances' END,
        omd_web._literal(v_filter::text), omd_web._literal(p_counted_at::text)
    );
    statement := omd_web._with_reason(
        v_action.routine,
        omd_web._call(v_action, v_values, coalesce(p_arguments, '{}'), FALSE),
        CASE WHEN p_reason ~ '\S' THEN p_reason END
    );
    RETURN NEXT;
END
$bulk$;

COMMENT ON FUNCTION omd_web.bulk IS
'For rooms: '
'Returns how p_action_code is done to all that p_filter describes, as omd_dispatch.count_tasks or '
'omd.count_instances says (the action gives instance_type): is_permitted: the caller may execute '
'the procedure; why_not: the role that is missing; asks: what it asks, as omd_web.actions says; '
'count_statement: the statement that counts; statement: the call of a part. p_counted_at: when it '
'was counted. p_arguments: what is asked; NULL counts as not given. p_reason: why; the event of '
'each call keeps it. p_limit: how many a call takes at most. p_after_id: only those after this '
'task or instance. It changes nothing. Errors: OM005: an argument is NULL; OM013: p_arguments '
'names another one; OM098: there is no such bulk action. May be NULL: why_not. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web.bulk TO omd_reader;
