-- step itself can't set how its query is planned, since it commits.

CREATE OR REPLACE FUNCTION omd_lineage._rows_of_step(
    p_module_instance_id bigint
)
RETURNS bigint
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $rows_of_step$
BEGIN
    RETURN (
        SELECT l.rows FROM omd_lineage.log AS l
        WHERE l.module_instance_id = p_module_instance_id
    );
END
$rows_of_step$;

COMMENT ON FUNCTION omd_lineage._rows_of_step IS
'Returns how many rows the step p_module_instance_id has written, as its log says. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._rows_of_step TO omd_runner;
