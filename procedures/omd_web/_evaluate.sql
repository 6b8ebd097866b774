-- One look at the object answers for all its actions: a view may cost more than everything else
-- here. The statement consists of texts of the installation and of the key as a literal.

CREATE OR REPLACE FUNCTION omd_web._evaluate(
    p_object_kind text,
    p_key text,
    p_action_code text DEFAULT NULL
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $evaluate$
DECLARE
    v_kind omd_web.object_kind;
    v_from text;
    v_actions text;
    v_answer jsonb;
BEGIN
    p_object_kind := omd.require_argument('p_object_kind', p_object_kind);
    p_key := omd.require_argument('p_key', p_key);
    SELECT k.* INTO v_kind FROM omd_web.object_kind AS k WHERE k.object_kind = p_object_kind;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM098', jsonb_build_object('what', format('kind of object %s', p_object_kind))
        );
    END IF;

    IF to_regclass(v_kind.view_name) IS NULL THEN
        IF p_key ~ '^[0-9]{1,18}$' THEN
            v_from := format('%s(%s) AS o', v_kind.view_name, p_key);
        END IF;
    ELSIF p_key ~ '^[0-9]{1,18}$' OR EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = v_kind.view_name::regclass
            AND a.attname = v_kind.key_column
            AND a.atttypid = 'text'::regtype
    ) THEN
        v_from := format('%s AS o WHERE o.%I = %L', v_kind.view_name, v_kind.key_column, p_key);
    END IF;

    SELECT string_agg(
        format(
            '%L, jsonb_build_object(''is_offered'', coalesce((%s), TRUE), ''values'', '
            'jsonb_build_object(%s))',
            a.action_code, a.offered_when,
            (
                SELECT string_agg(format('%L, (%s)::text', r.key, r.value ->> 'sql'), ', ')
                FROM jsonb_each(a.arguments) AS r
                WHERE r.value ? 'sql'
            )
        ),
        ', '
    )
    INTO v_actions
    FROM omd_web.action AS a
    WHERE a.object_kind = p_object_kind AND a.action_code = coalesce(p_action_code, a.action_code);
    IF v_from IS NOT NULL THEN
        BEGIN
            EXECUTE format(
                'SELECT jsonb_build_object(''row'', to_jsonb(o), ''actions'', '
                'jsonb_build_object(%s)) FROM %s',
                v_actions, v_from
            ) INTO v_answer;
        EXCEPTION
            WHEN SQLSTATE 'OM072' THEN
                NULL;
        END;
    END IF;
    IF v_answer IS NULL THEN
        PERFORM omd.raise_error(
            'OM098',
            jsonb_build_object(
                'what', format('object %s of the kind %s', left(p_key, 100), p_object_kind)
            )
        );
    END IF;
    RETURN v_answer || jsonb_build_object('from', v_from);
END
$evaluate$;

COMMENT ON FUNCTION omd_web._evaluate IS
'Looks at the object p_key of the kind p_object_kind and returns row (what its view shows), from '
'(the FROM clause that finds it as o) and actions: of each action, or of p_action_code alone, '
'is_offered and values, the arguments that the row gives as texts. Errors: OM005: an argument is '
'NULL; OM098: there is no such kind or object. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web._evaluate TO omd_reader;
