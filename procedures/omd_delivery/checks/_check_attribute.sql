-- A word that PostgreSQL would read otherwise must be in quotes: user would be who asks.

CREATE OR REPLACE FUNCTION omd_delivery._check_attribute(
    p_word text,
    p_is_quoted boolean,
    p_types jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $check_attribute$
DECLARE
    v_type CONSTANT text := p_types ->> p_word;
    v_size integer[];
BEGIN
    IF v_type IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'syntax_error',
            MESSAGE = format('"%s" is no attribute of the entity', left(p_word, 60));
    ELSIF NOT p_is_quoted
        AND EXISTS (
            SELECT FROM pg_get_keywords() AS k WHERE k.word = p_word AND k.catcode IN ('R', 'T')
        )
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'syntax_error',
            MESSAGE = format('%s needs double quotes', p_word);
    END IF;
    v_size := regexp_split_to_array(substring(v_type FROM '[(](.*)[)]'), ',')::integer[];
    RETURN jsonb_build_object(
        'kind', omd_delivery._type_kind(v_type),
        'spark', format('`%s`', p_word),
        'sql', format('t."%s"', p_word)
    ) || CASE omd_delivery._type_kind(v_type)
        WHEN 'integer' THEN jsonb_build_object(
            'digits', CASE v_type WHEN 'smallint' THEN 5 WHEN 'integer' THEN 10 ELSE 19 END,
            'scale', 0
        )
        WHEN 'numeric' THEN jsonb_build_object('digits', v_size[1], 'scale', v_size[2])
        ELSE '{}'
    END;
END
$check_attribute$;

COMMENT ON FUNCTION omd_delivery._check_attribute IS
'Returns the attribute p_word of p_types as a part of a check. p_is_quoted: it stands in quotes. '
'Errors: 42601: there is none, or it needs quotes. Locks: none.';
