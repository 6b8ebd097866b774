-- A number is written out, since an exponent makes another type of it in Spark.

CREATE OR REPLACE FUNCTION omd_delivery._check_constant(
    p_number text
)
RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $check_constant$
DECLARE
    v_number text;
    v_digits integer;
    v_scale integer;
BEGIN
    IF length(p_number) > 80 OR p_number ~ '[eE][-+]?[0-9]{3}' THEN
        v_digits := 39;
    ELSE
        v_number := p_number::numeric::text;
        v_scale := coalesce(length(substring(v_number FROM '\.([0-9]*)$')), 0);
        v_digits := greatest(length(ltrim(replace(v_number, '.', ''), '0')), v_scale, 1);
    END IF;
    IF v_digits > 38 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'syntax_error',
            MESSAGE = format('the number %s has more than 38 digits', left(p_number, 60));
    END IF;
    RETURN jsonb_build_object(
        'kind', CASE WHEN p_number ~ '^[0-9]+$' THEN 'integer' ELSE 'numeric' END,
        'digits', v_digits,
        'scale', v_scale,
        'spark', v_number || CASE WHEN p_number ~ '^[0-9]+$' THEN '' ELSE 'BD' END,
        'sql', p_number
    );
END
$check_constant$;

COMMENT ON FUNCTION omd_delivery._check_constant IS
'Returns the number p_number as a part of a check. Errors: 42601: it has too many digits. Locks: '
'none.';
