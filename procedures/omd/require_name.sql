-- Refuses a code that is NULL or blank.

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
BEGIN
    IF p_value IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', p_argument));
    ELSIF p_value ~ '^[[:space:]]*$' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', p_argument, 'value', p_value, 'expected', 'a name that is not blank'
            )
        );
    END IF;
END
$require_name$;

COMMENT ON FUNCTION omd.require_name IS
'For rooms: Raises OM005 when the value of the argument p_argument is NULL, OM013 when it is '
'blank. Locks: none.';
REVOKE ALL ON FUNCTION omd.require_name FROM PUBLIC;
