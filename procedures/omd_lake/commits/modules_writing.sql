-- A job may write any table of the lake, also one that is the target of no Module.

CREATE OR REPLACE FUNCTION omd_lake.modules_writing(
    p_table_code text
)
RETURNS integer[]
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(array_agg(DISTINCT r.module_id), '{}')
    FROM omd_lake.table_commit AS c
    INNER JOIN omd.ledger_run AS r ON c.module_instance_id = r.module_instance_id
    WHERE
        c.table_code = p_table_code
        AND c.operation IN ('APPEND', 'OVERWRITE', 'HISTORY');
END;

COMMENT ON FUNCTION omd_lake.modules_writing IS
'For rooms: Returns the Modules whose runs have committed rows to the lake table p_table_code. '
'Locks: none.';
