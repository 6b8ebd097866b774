-- Every refused confirmation says who asked, and why.

CREATE OR REPLACE FUNCTION omd_event._raise_not_held(
    p_sink_code text,
    p_holder text,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_not_held$
BEGIN
    PERFORM omd.raise_error(
        'OM195',
        jsonb_build_object('sink_code', p_sink_code, 'holder', p_holder, 'problem', p_problem)
    );
END
$raise_not_held$;

COMMENT ON FUNCTION omd_event._raise_not_held IS
'Raises that p_holder can''t confirm events of the sink p_sink_code, and why. Errors: OM195. '
'Locks: none.';
