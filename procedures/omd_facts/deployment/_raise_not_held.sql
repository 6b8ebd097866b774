-- Two ways to wait in vain, one error.

CREATE OR REPLACE FUNCTION omd_facts._raise_not_held(
    p_interface_code text,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_not_held$
BEGIN
    PERFORM omd.raise_error(
        'OM160',
        jsonb_build_object('interface_code', p_interface_code, 'problem', p_problem)
    );
END
$raise_not_held$;

COMMENT ON FUNCTION omd_facts._raise_not_held IS
'Raises OM160: the views of the interface p_interface_code can''t be held, because of p_problem. '
'Locks: none.';
