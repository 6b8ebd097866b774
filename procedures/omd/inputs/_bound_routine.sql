-- The longest pattern is the most special one.

CREATE OR REPLACE FUNCTION omd._bound_routine(
    p_relation oid
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $bound_routine$
BEGIN
    RETURN (
        SELECT h.routine
        FROM pg_class AS c
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        INNER JOIN omd.room_hook AS h
            ON h.hook = 'READ_BOUND' AND n.nspname::text LIKE h.for_code
        WHERE c.oid = p_relation
        ORDER BY length(h.for_code) DESC
        LIMIT 1
    );
END
$bound_routine$;

COMMENT ON FUNCTION omd._bound_routine IS
'Returns the routine that tells how far the relation p_relation may be read; NULL when there is '
'none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._bound_routine TO omd_runner, omd_admin;
