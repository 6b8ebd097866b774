-- The run is an older one, or it was ended.

CREATE OR REPLACE FUNCTION omd_delivery._raise_fenced(
    p_delivery omd_delivery.delivery,
    p_attempt integer
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_fenced$
BEGIN
    PERFORM omd.raise_error(
        'OM132',
        jsonb_build_object(
            'delivery_id', p_delivery.delivery_id,
            'attempt', p_attempt,
            'newest_attempt', p_delivery.attempt
        )
    );
END
$raise_fenced$;

COMMENT ON FUNCTION omd_delivery._raise_fenced IS
'Raises OM132 for the run p_attempt of p_delivery. Locks: none.';
