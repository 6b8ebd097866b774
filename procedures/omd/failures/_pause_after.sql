-- The exponent has a bound, so that no count of failures, which may go on for ever, overflows.

CREATE OR REPLACE FUNCTION omd._pause_after(
    p_backoff interval,
    p_backoff_limit interval,
    p_failures bigint
)
RETURNS interval
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        make_interval(
            secs => least(
                extract(EPOCH FROM p_backoff)::double precision
                * 2::double precision ^ least(p_failures - 1, 100),
                extract(EPOCH FROM p_backoff_limit)::double precision
            )
        );
END;

COMMENT ON FUNCTION omd._pause_after IS
'Returns how long work waits after its failure number p_failures in a row: p_backoff, doubled with '
'each failure after the first, p_backoff_limit at most. Locks: none.';
