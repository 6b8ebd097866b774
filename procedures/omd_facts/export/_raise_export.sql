-- What an export says wrongly is one error, which says where.

CREATE OR REPLACE FUNCTION omd_facts._raise_export(
    p_argument text,
    p_value text,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_export$
BEGIN
    PERFORM omd.raise_error(
        'OM060',
        jsonb_build_object(
            'argument', p_argument, 'value', left(p_value, 200), 'problem', p_problem
        )
    );
END
$raise_export$;

COMMENT ON FUNCTION omd_facts._raise_export IS
'Raises OM060: the argument p_argument, whose value p_value is refused, because of p_problem. '
'Locks: none.';
