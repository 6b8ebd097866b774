-- One look at the table serves all runs.

CREATE OR REPLACE FUNCTION omd.count_stamped(
    p_table_code text,
    p_column text,
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    row_count bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $count_stamped$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT d.%1$I::bigint, count(*) FROM %2$s AS d WHERE d.%1$I = ANY ($1) GROUP BY 1',
        p_column, omd.quote_table(p_table_code, 'POSTGRES')::regclass
    )
    USING p_instance_array;
END
$count_stamped$;

COMMENT ON FUNCTION omd.count_stamped IS
'For rooms: Returns how many rows of p_table_code hold each of p_instance_array in the column '
'p_column; a run without rows has none. It reads with the rights of the caller. Locks: none.';
REVOKE ALL ON FUNCTION omd.count_stamped FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.count_stamped TO omd_runner, omd_admin;
