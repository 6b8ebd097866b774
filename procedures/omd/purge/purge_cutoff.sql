-- All purges check their arguments here, so that they refuse them alike.

CREATE OR REPLACE FUNCTION omd.purge_cutoff(
    p_keep interval,
    p_batch_size integer
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_cutoff$
BEGIN
    p_keep := omd.require_argument('p_keep', p_keep);
    p_batch_size := omd.require_argument('p_batch_size', p_batch_size);
    IF p_keep < interval '0' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_keep', 'value', p_keep, 'expected', 'an interval of 0 or more'
            )
        );
    ELSIF p_batch_size < 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_batch_size', 'value', p_batch_size, 'expected', '1 or more'
            )
        );
    END IF;
    RETURN statement_timestamp() - p_keep;
EXCEPTION
    WHEN datetime_field_overflow THEN
        RETURN '-infinity'::timestamptz;
END
$purge_cutoff$;

COMMENT ON FUNCTION omd.purge_cutoff IS
'For rooms: Returns the moment p_keep ago; -infinity when that is before all time. Errors: OM005 '
'(an argument is NULL), OM013 (p_keep is negative, p_batch_size less than 1). Locks: none.';
GRANT EXECUTE ON FUNCTION omd.purge_cutoff TO omd_admin;
