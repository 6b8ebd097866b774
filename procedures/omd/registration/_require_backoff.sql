-- The three belong together, and two routines take them.

CREATE OR REPLACE FUNCTION omd._require_backoff(
    p_backoff interval,
    p_backoff_limit interval,
    p_max_failures integer
)
RETURNS void
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_backoff$
DECLARE
    v_wrong record;
BEGIN
    -- An infinite interval, which newer servers have, is longer than all others.
    SELECT w.argument, w.value, w.expected INTO v_wrong
    FROM (
        VALUES
        (
            'p_backoff', p_backoff::text, 'from 0 to 100 years',
            p_backoff BETWEEN interval '0' AND interval '100 years'
        ),
        (
            'p_backoff_limit', p_backoff_limit::text, 'from 0 to 100 years',
            p_backoff_limit BETWEEN interval '0' AND interval '100 years'
        ),
        ('p_max_failures', p_max_failures::text, 'a count, or 0 for never', p_max_failures >= 0)
    ) AS w (argument, value, expected, is_right)
    WHERE NOT w.is_right
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error('OM013', to_jsonb(v_wrong));
    END IF;
END
$require_backoff$;

COMMENT ON FUNCTION omd._require_backoff IS
'Refuses a p_backoff, a p_backoff_limit or a p_max_failures that is not allowed; NULL is. Errors: '
'OM013. Locks: none.';
