-- The suspension holds from its commit on, by the guard of each claim; marks only keep its tasks
-- out of the way of others. The first ones are set here, so that a short queue is done with, and
-- the others by maintain.

CREATE OR REPLACE PROCEDURE omd_dispatch.suspend(
    p_family_code text,
    p_task_types text[] DEFAULT NULL,
    p_criteria jsonb DEFAULT NULL,
    p_reason text DEFAULT NULL,
    INOUT p_suspension_id bigint DEFAULT NULL,
    INOUT p_held bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
AS $suspend$
DECLARE
    v_given record;
    v_value text;
    v_problem text;
BEGIN
    PERFORM omd.require_read_committed();
    PERFORM omd_dispatch._require_family(p_family_code);
    PERFORM omd_dispatch._require_new_model(p_family_code);
    PERFORM omd_dispatch._require_type(p_family_code, t) FROM unnest(p_task_types) AS t;
    IF coalesce(jsonb_typeof(p_criteria), 'object') <> 'object' OR EXISTS (
        SELECT FROM jsonb_each(p_criteria) AS c
        WHERE jsonb_typeof(c.value) = 'object' OR c.value = '[]'
    ) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_criteria',
                'value', left(p_criteria::text, 60),
                'expected', 'a JSON object such as {"CODE": ["b_x", "b_y"]}'
            )
        );
    END IF;
    PERFORM omd_dispatch._require_criterion(p_family_code, c.key)
    FROM jsonb_each(coalesce(p_criteria, '{}')) AS c;

    INSERT INTO omd_dispatch.task_suspension (
        family_code, reason, suspended_at, suspended_by, is_marked
    )
    VALUES (p_family_code, p_reason, clock_timestamp(), omd.editor(), FALSE)
    RETURNING suspension_id INTO p_suspension_id;
    INSERT INTO omd_dispatch.task_suspension_types (suspension_id, task_type)
    SELECT DISTINCT p_suspension_id, t FROM unnest(p_task_types) AS t;
    FOR v_given IN
        SELECT m.criterion, m.data_type, v.value #>> '{}' AS value, jsonb_typeof(v.value) AS kind
        FROM jsonb_each(coalesce(p_criteria, '{}')) AS c
        INNER JOIN omd_dispatch.task_conf_family_model AS m
            ON m.family_code = p_family_code AND c.key = m.criterion
        CROSS JOIN LATERAL jsonb_array_elements(
            CASE WHEN jsonb_typeof(c.value) = 'array' THEN c.value ELSE jsonb_build_array(c.value) END
        ) AS v (value)
    LOOP
        BEGIN
            EXECUTE format(
                CASE v_given.data_type
                    WHEN 'numeric' THEN 'SELECT jsonb_build_object(''v'', trim_scale(%L::%s)) ->> ''v'''
                    ELSE 'SELECT jsonb_build_object(''v'', %L::%s) ->> ''v'''
                END,
                v_given.value, v_given.data_type
            ) INTO v_value;
            INSERT INTO omd_dispatch.task_suspension_criteria (
                suspension_id, criterion, criterion_value
            )
            SELECT p_suspension_id, v_given.criterion, v_value
            WHERE v_value IS NOT NULL
            ON CONFLICT DO NOTHING;
        EXCEPTION
            WHEN data_exception OR program_limit_exceeded THEN
                v_problem := sqlerrm;
        END;
        IF v_problem IS NOT NULL OR v_value IS NULL OR v_given.kind IN ('object', 'array') THEN
            PERFORM omd.raise_error(
                'OM078',
                jsonb_build_object(
                    'family_code', p_family_code,
                    'criterion', v_given.criterion,
                    'problem', coalesce(v_problem, 'it is no scalar')
                )
            );
        END IF;
    END LOOP;
    p_held := omd_dispatch._mark_suspended(p_suspension_id, 500);
    PERFORM omd.write_event(
        0, 0, 4, 'SUSPENDED',
        format(
            '%s: suspension %s of family %s%s: %s',
            omd.editor(), p_suspension_id, p_family_code,
            coalesce(' ' || p_task_types::text, '') || coalesce(' ' || p_criteria::text, ''),
            coalesce(p_reason, 'no reason was given')
        )
    );
END
$suspend$;

COMMENT ON PROCEDURE omd_dispatch.suspend IS
'Suspends tasks of the family p_family_code: they stay pending until resume. p_task_types: only '
'these types. p_criteria: only tasks that have one of the values of each criterion, as {"CODE": '
'["b_x", "b_y"]}. p_reason: why. Returns p_suspension_id and p_held, how many it holds of the '
'first 500 tasks that none held before; all others are held at once as well. Tasks that run go on. '
'Errors: OM005: p_family_code is NULL; OM013: p_criteria; OM014: the isolation level is not read '
'committed; OM070, OM071: family or type is unknown; OM075: the model lacks a criterion; OM078: a '
'value is not of its type, or too long for an index; OM173: the old model is master. Locks: the '
'tasks that it marks.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.suspend TO omd_admin;
