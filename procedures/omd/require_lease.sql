-- Refuses a lease that is not a positive span of time. NULL (no lease) passes. Errors: OM011.
-- Locks: none.

CREATE OR REPLACE FUNCTION omd.require_lease(
    p_lease interval
)
RETURNS void
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
END
$require_lease$;

COMMENT ON FUNCTION omd.require_lease IS
'Raises OM011 when p_lease is not longer than zero; NULL passes. Locks: none.';
REVOKE ALL ON FUNCTION omd.require_lease FROM PUBLIC;
