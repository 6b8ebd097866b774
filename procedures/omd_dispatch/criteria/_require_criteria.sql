-- The rules are in the order in which they are reported: of several mistakes the caller sees the
-- first one of the first task.

CREATE OR REPLACE FUNCTION omd_dispatch._require_criteria(
    p_family_code text,
    p_task_type text,
    p_tasks jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_criteria$
DECLARE
    v_names jsonb;
    v_shape jsonb;
    v_wrong record;
    v_detail jsonb;
BEGIN
    SELECT coalesce(jsonb_object_agg(d.external_name, d.criterion), '{}') INTO v_names
    FROM omd_dispatch.task_conf_dict AS d
    WHERE d.family_code = p_family_code AND d.task_type = p_task_type;
    -- Of each criterion its mode: D, O, or M where it must be given.
    SELECT coalesce(jsonb_object_agg(m.criterion, coalesce(c.mode, 'M')), '{}') INTO v_shape
    FROM omd_dispatch.task_conf_family_model AS m
    LEFT JOIN omd_dispatch.task_conf_custom AS c
        ON m.family_code = c.family_code
            AND c.task_type = p_task_type
            AND m.criterion = c.criterion
    WHERE m.family_code = p_family_code;

    WITH given AS (
        SELECT
            t.n,
            g.key AS name,
            coalesce(v_names ->> g.key, g.key) AS criterion,
            jsonb_typeof(g.value) AS kind
        FROM jsonb_array_elements(p_tasks) WITH ORDINALITY AS t (task, n)
        CROSS JOIN LATERAL jsonb_each(coalesce(nullif(t.task -> 'criteria', 'null'), '{}')) AS g
    )

    SELECT w.rule, w.n, w.criterion, w.problem INTO v_wrong
    FROM (
        SELECT
            1 AS rule,
            g.n,
            g.criterion,
            'given under one of its names' AS problem
        FROM given AS g
        GROUP BY g.n, g.criterion
        HAVING count(*) > 1
        UNION ALL
        SELECT 2, g.n, g.name, NULL
        FROM given AS g
        WHERE NOT v_shape ? g.criterion
        UNION ALL
        SELECT 3, g.n, g.criterion, NULL
        FROM given AS g
        WHERE v_shape ->> g.criterion = 'D' AND g.kind <> 'null'
        UNION ALL
        SELECT 4, t.n, s.key, NULL
        FROM jsonb_array_elements(p_tasks) WITH ORDINALITY AS t (task, n)
        CROSS JOIN jsonb_each_text(v_shape) AS s
        WHERE s.value = 'M'
            AND NOT EXISTS (
                SELECT FROM given AS g
                WHERE g.n = t.n AND g.criterion = s.key AND g.kind <> 'null'
            )
        UNION ALL
        SELECT 5, g.n, g.criterion, 'it is no scalar'
        FROM given AS g
        WHERE g.kind IN ('object', 'array')
    ) AS w
    ORDER BY w.n, w.rule, w.criterion COLLATE "C"
    LIMIT 1;
    IF v_wrong.rule = 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_criteria',
                'value', left(v_wrong.criterion, 60) || ', given twice',
                'expected', v_wrong.problem,
                'task', v_wrong.n
            )
        );
    ELSIF FOUND THEN
        v_detail := jsonb_build_object(
            'family_code', p_family_code,
            'task_type', p_task_type,
            'criterion', left(v_wrong.criterion, 60),
            'task', v_wrong.n,
            'criteria', (
                SELECT string_agg(s.key, ', ' ORDER BY s.key)
                FROM jsonb_each_text(v_shape) AS s
                WHERE s.value <> 'D'
            )
        );
        IF v_wrong.rule = 2 THEN
            PERFORM omd.raise_error('OM075', v_detail);
        ELSIF v_wrong.rule = 3 THEN
            PERFORM omd.raise_error('OM077', v_detail);
        ELSIF v_wrong.rule = 4 THEN
            PERFORM omd.raise_error('OM076', v_detail);
        END IF;
        PERFORM omd.raise_error(
            'OM078', v_detail || jsonb_build_object('problem', v_wrong.problem)
        );
    END IF;
    RETURN v_names;
END
$require_criteria$;

COMMENT ON FUNCTION omd_dispatch._require_criteria IS
'Checks the criteria of the tasks p_tasks of the type p_task_type in p_family_code, but not yet '
'their values, and returns the external names of the type, as an object. Errors: OM013: a '
'criterion is given twice; OM075: it is not in the model; OM076: one is missing; OM077: it is '
'forbidden; OM078: it is no scalar. Locks: none.';
