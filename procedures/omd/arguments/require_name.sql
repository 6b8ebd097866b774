-- An index entry has 2704 bytes, of which its header takes some. A longer text would fit only if it
-- compresses well, which nobody can foresee, so the limit is lower.

CREATE OR REPLACE FUNCTION omd.require_name(
    p_argument text,
    p_value text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_name$
DECLARE
    v_expected text;
BEGIN
    IF p_value IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', p_argument));
    END IF;

    v_expected := CASE
        WHEN octet_length(p_value) > 2600 THEN 'a name of at most 2600 bytes'
        WHEN p_value ~ '^[[:space:]]*$' THEN 'a name that is not blank'
    END;
    IF v_expected IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', p_argument, 'value', left(p_value, 60), 'expected', v_expected
            )
        );
    END IF;
END
$require_name$;

COMMENT ON FUNCTION omd.require_name IS
'For rooms: Refuses a name: the value p_value of the argument p_argument. Errors: OM005 (NULL), '
'OM013 (blank, or longer than 2600 bytes). Locks: none.';
