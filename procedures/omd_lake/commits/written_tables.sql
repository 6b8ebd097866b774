-- Files of a run are known by its commits.

CREATE OR REPLACE FUNCTION omd_lake.written_tables(
    p_module_instance_id bigint
)
RETURNS TABLE (table_code text)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT DISTINCT c.table_code
    FROM omd_lake.table_commit AS c
    WHERE
        c.module_instance_id = p_module_instance_id
        AND c.operation IN ('APPEND', 'OVERWRITE', 'HISTORY');
END;

COMMENT ON FUNCTION omd_lake.written_tables IS
'For rooms: returns the tables of the lake to which the run p_module_instance_id has committed '
'rows. Locks: none.';
