-- One look at the table serves all runs. The rows that a history closes for a run bear its stamp of
-- updating. A repair also sets right what bears no stamp; that is counted for the newest run.

CREATE OR REPLACE FUNCTION omd.recall_counts(
    p_table_name text,
    p_stamp text,
    p_update_stamp text,
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    rows_go bigint,
    rows_back bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $recall_counts$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT i.id, coalesce(sum(n.n) FILTER (WHERE n.goes), 0)::bigint,'
        ' coalesce(sum(n.n) FILTER (WHERE NOT n.goes), 0)::bigint'
        ' FROM unnest($1) AS i (id) LEFT JOIN ('
        ' SELECT coalesce(t.%1$s = ANY ($1), FALSE) AS goes,'
        ' CASE WHEN t.%1$s = ANY ($1) THEN t.%1$s ELSE %3$s END::bigint AS id,'
        ' count(*) AS n FROM %2$s AS t WHERE t.%1$s = ANY ($1) OR %3$s = ANY ($1)'
        ' GROUP BY 1, 2) AS n USING (id) GROUP BY i.id',
        p_stamp,
        p_table_name,
        coalesce('t.' || p_update_stamp, 'NULL::bigint')
    )
    USING p_instance_array;
END
$recall_counts$;

COMMENT ON FUNCTION omd.recall_counts IS
'For rooms: Returns for each run of p_instance_array how many rows of the table p_table_name bear '
'its stamp in p_stamp, and how many rows of others bear it in p_update_stamp (NULL: there is no '
'such column); the names are quoted. It reads with the rights of the caller. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.recall_counts TO omd_admin;
