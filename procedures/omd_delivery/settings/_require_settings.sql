-- The model and the agreements set the same fields, so one routine refuses both.

CREATE OR REPLACE FUNCTION omd_delivery._require_settings(
    p_model jsonb,
    p_settings jsonb,
    p_path text DEFAULT 'settings'
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_settings$
DECLARE
    v_unknown jsonb;
    v_problems jsonb;
BEGIN
    IF coalesce(p_settings, '{}') = '{}' THEN
        RETURN;
    END IF;
    SELECT jsonb_agg(s.key ORDER BY s.key COLLATE "C") INTO v_unknown
    FROM jsonb_each(p_settings) AS s
    WHERE NOT EXISTS (
        SELECT FROM omd_delivery._model_constraints(p_model) AS c WHERE c.constraint_code = s.key
    );
    IF v_unknown IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM035',
            jsonb_build_object(
                'interface_code', p_model -> 'interface', 'constraint_codes', v_unknown
            )
        );
    END IF;

    SELECT
        jsonb_agg(
            jsonb_build_object('path', p.path, 'problem', p.problem) ORDER BY p.path COLLATE "C"
        )
    INTO v_problems
    FROM (
        SELECT w.*
        FROM jsonb_each(p_settings) AS s
        CROSS JOIN LATERAL omd_delivery._shape_problems(
            'setting', format('%s[%s]', p_path, to_jsonb(s.key)), s.value
        ) AS w
        UNION ALL
        SELECT
            format('%s[%s]', p_path, to_jsonb(s.key)) AS path,
            omd_delivery._setting_problem(
                c.constraint_type,
                EXISTS (
                    SELECT
                    FROM omd_delivery._model_objects(p_model) AS o
                    WHERE o.entity_code = c.entity_code
                        AND (
                            (
                                o.kind = 'attribute'
                                AND o.object_code = ANY(c.column_codes)
                                AND (o.definition -> 'mandatory')::boolean
                            )
                            OR (
                                o.kind = 'entity'
                                AND omd_delivery._names(o.definition -> 'key') && c.column_codes
                            )
                        )
                ),
                s.value || jsonb_build_object(
                    'action', omd_delivery._action_code(omd_delivery._text(s.value, 'action'))
                )
            ) AS problem
        FROM jsonb_each(p_settings) AS s
        INNER JOIN omd_delivery._model_constraints(p_model) AS c ON s.key = c.constraint_code
        WHERE jsonb_typeof(s.value) = 'object'
    ) AS p
    WHERE p.problem IS NOT NULL;
    IF v_problems IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM042',
            jsonb_build_object(
                'interface_code', p_model -> 'interface',
                'path', v_problems -> 0 -> 'path',
                'problem', v_problems -> 0 -> 'problem',
                'problems', v_problems
            )
        );
    END IF;
END
$require_settings$;

COMMENT ON FUNCTION omd_delivery._require_settings IS
'Refuses the settings p_settings, {constraint code: {field: value}}, for the constraints of the '
'model document p_model. p_path: where they stand. Errors: OM035: a constraint is unknown; OM042: '
'a setting is impossible. Locks: none.';
