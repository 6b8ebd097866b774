-- A reference that would break, and one that would be deleted without a word, are reported alike.

CREATE OR REPLACE FUNCTION omd_lineage._raise_referenced(
    p_table regclass,
    p_referrer text,
    p_problem text,
    p_way_out text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $raise_referenced$
BEGIN
    PERFORM omd.raise_error(
        'OM118',
        jsonb_build_object(
            'table_code', p_table::text,
            'referrer', p_referrer,
            'problem', p_problem,
            'way_out', coalesce(
                p_way_out,
                'Remove the rows that refer to them, or let the transforms bring these keys again.'
            )
        )
    );
END
$raise_referenced$;

COMMENT ON FUNCTION omd_lineage._raise_referenced IS
'Raises OM118: rows of p_table can''t be deleted since rows of p_referrer refer to them, as '
'p_problem tells. p_way_out: the hint; NULL: to remove the references. Errors: OM118. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._raise_referenced TO omd_runner;
