-- One statement is undone as a whole when it is cancelled, so a call takes a part that is short.

CREATE OR REPLACE FUNCTION omd.require_chunk(
    p_counted_at timestamptz,
    p_limit integer
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_chunk$
BEGIN
    p_counted_at := omd.require_argument('p_counted_at', p_counted_at);
    IF NOT isfinite(p_counted_at) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_counted_at',
                'value', p_counted_at::text,
                'expected', 'when it was counted'
            )
        );
    ELSIF p_limit IS NULL OR p_limit NOT BETWEEN 1 AND 1000000 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_limit',
                'value', coalesce(p_limit::text, 'NULL'),
                'expected', 'from 1 to 1000000'
            )
        );
    END IF;
END
$require_chunk$;

COMMENT ON FUNCTION omd.require_chunk IS
'For rooms: Refuses arguments of a bulk action that are not allowed: p_counted_at, when it was '
'counted, and p_limit, how many rows it takes at most. Errors: OM005, OM013. Locks: none.';
