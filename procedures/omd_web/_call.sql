-- The signature of the procedure says the order and the types, so a changed one needs no change
-- here.

CREATE OR REPLACE FUNCTION omd_web._call(
    p_action omd_web.action,
    p_values jsonb,
    p_arguments jsonb,
    p_shows_asked boolean
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $call$
DECLARE
    v_wrong text;
BEGIN
    IF jsonb_typeof(p_arguments) <> 'object' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_arguments',
                'value', left(p_arguments::text, 60),
                'expected', 'a JSON object'
            )
        );
    END IF;
    SELECT g.key INTO v_wrong
    FROM jsonb_object_keys(p_arguments) AS g (key)
    WHERE NOT coalesce(p_action.arguments -> g.key ? 'ask', FALSE)
    ORDER BY g.key
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_arguments',
                'value', left(v_wrong, 60),
                'expected', coalesce(
                    (
                        SELECT 'of ' || string_agg(a.key, ', ' ORDER BY a.key)
                        FROM jsonb_each(p_action.arguments) AS a
                        WHERE a.value ? 'ask'
                    ),
                    'empty'
                )
            )
        );
    END IF;
    IF NOT p_shows_asked THEN
        SELECT a.key INTO v_wrong
        FROM jsonb_each(p_action.arguments) AS a
        WHERE (a.value ->> 'required')::boolean AND p_arguments ->> a.key IS NULL
        ORDER BY a.key
        LIMIT 1;
        IF FOUND THEN
            PERFORM omd.raise_error('OM005', jsonb_build_object('argument', v_wrong));
        END IF;
    END IF;
    RETURN (
        SELECT
            format(
                'CALL %s(%s);',
                p_action.routine,
                string_agg(
                    quote_ident(s.name) || ' => ' || CASE
                        WHEN s.is_asked AND p_shows_asked THEN ':' || s.name
                        ELSE coalesce(omd_web._literal(s.value), 'NULL') || '::' || s.type
                    END,
                    ', ' ORDER BY s.place
                )
            )
        FROM (
            SELECT
                n.name,
                n.place,
                format_type(n.type, NULL) AS type,
                a.value ? 'ask' AS is_asked,
                CASE
                    WHEN a.value ? 'sql' THEN p_values ->> n.name
                    WHEN jsonb_typeof(p_arguments -> n.name) = 'array' AND t.typcategory = 'A'
                        THEN ARRAY(
                            SELECT e.value FROM jsonb_array_elements_text(p_arguments -> n.name) AS e
                        )::text
                    ELSE p_arguments ->> n.name
                END AS value
            FROM pg_proc AS p
            CROSS JOIN LATERAL unnest(
                p.proargnames, coalesce(p.proallargtypes, p.proargtypes::oid[])
            ) WITH ORDINALITY AS n (name, type, place)
            INNER JOIN pg_type AS t ON n.type = t.oid
            INNER JOIN jsonb_each(p_action.arguments) AS a ON n.name = a.key
            WHERE p.oid = p_action.routine::regproc
        ) AS s
        WHERE NOT s.is_asked OR p_shows_asked OR s.value IS NOT NULL
    );
END
$call$;

COMMENT ON FUNCTION omd_web._call IS
'Returns the CALL of p_action in one line. p_values: what the row gives. p_arguments: what was '
'asked; NULL counts as not given. p_shows_asked: instead, each argument that is asked stands as '
':name. Errors: OM005: a required argument is missing; OM013: p_arguments names another one. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web._call TO omd_reader;
