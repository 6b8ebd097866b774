-- Codes of this room become names of tables and columns, so they have fewer characters than others.

CREATE OR REPLACE FUNCTION omd_dispatch._require_code(
    p_argument text,
    p_code text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_code$
BEGIN
    PERFORM omd.require_name(p_argument, p_code);
    IF p_code !~ '^[A-Z][A-Z0-9_]{0,29}$' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', p_argument,
                'value', left(p_code, 60),
                'expected', 'an upper case letter, then at most 29 of A-Z, 0-9 and _'
            )
        );
    END IF;
END
$require_code$;

COMMENT ON FUNCTION omd_dispatch._require_code IS
'Refuses the value p_code of the argument p_argument that is no code of this room. Errors: OM005: '
'it is NULL; OM013: it has other characters. Locks: none.';
