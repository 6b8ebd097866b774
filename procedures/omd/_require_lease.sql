-- Answers a lease; refuses one that is not a positive span of time. NULL (no lease) passes.

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
    IF p_lease <= interval '0' THEN
        PERFORM omd.raise_error('OM011', jsonb_build_object('lease', p_lease));
    END IF;
    RETURN p_lease;
END
$require_lease$;

COMMENT ON FUNCTION omd._require_lease IS
'Answers p_lease; raises OM011 when p_lease is not longer than zero; NULL passes. Locks: none.';
REVOKE ALL ON FUNCTION omd._require_lease FROM PUBLIC;
