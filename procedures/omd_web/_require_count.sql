-- How many rows somebody wants is asked in more than one place.

CREATE OR REPLACE FUNCTION omd_web._require_count(
    p_argument text,
    p_value integer
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_count$
BEGIN
    p_value := omd.require_argument(p_argument, p_value);
    IF p_value < 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', p_argument, 'value', p_value, 'expected', '1 or more'
            )
        );
    END IF;
END
$require_count$;

COMMENT ON FUNCTION omd_web._require_count IS
'Raises OM005 when p_value, the argument p_argument, is NULL, and OM013 when it is below 1. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web._require_count TO omd_reader;
