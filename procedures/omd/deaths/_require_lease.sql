-- The upper bound keeps the end of the lease an instant that every client can read.

CREATE OR REPLACE FUNCTION omd._require_lease(
    p_lease interval
)
RETURNS interval
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_lease$
BEGIN
    IF p_lease <= interval '0' OR p_lease > interval '100 years' THEN
        PERFORM omd.raise_error('OM011', jsonb_build_object('lease', p_lease));
    ELSIF p_lease < interval '10 milliseconds' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_lease', 'value', p_lease,
                'expected', '10 milliseconds or more: a shorter lease ends before its run works'
            )
        );
    END IF;
    RETURN p_lease;
END
$require_lease$;

COMMENT ON FUNCTION omd._require_lease IS
'Returns p_lease; NULL, no lease, is accepted. Errors: OM011 (not longer than zero, or longer '
'than 100 years), OM013 (under 10 milliseconds). Locks: none.';
