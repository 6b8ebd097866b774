-- What work tables and staging tables do not take is one error.

CREATE OR REPLACE FUNCTION omd_delivery._raise_rows(
    p_table_name text,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_rows$
BEGIN
    PERFORM omd.raise_error(
        'OM138', jsonb_build_object('table_name', p_table_name, 'problem', p_problem)
    );
END
$raise_rows$;

COMMENT ON FUNCTION omd_delivery._raise_rows IS
'Raises OM138 for rows of the table p_table_name, because of p_problem. Locks: none.';
