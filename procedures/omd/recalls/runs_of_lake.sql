-- A Module may have a template of its own, which Spark executes; only what the driver commits
-- itself can be part of another transaction.

CREATE OR REPLACE FUNCTION omd.runs_of_lake(
    p_instance_array bigint[]
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(array_agg(mi.module_instance_id ORDER BY mi.module_instance_id), '{}')
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m ON mi.module_id = m.module_id
    WHERE
        mi.module_instance_id = ANY(p_instance_array)
        AND mi.execution_status_code = 'S'
        AND mi.rolled_back_by_module_instance_id IS NULL
        AND m.table_format_code = 'ICEBERG'
        AND (
            SELECT bool_and(t.statement_kind = 'LAKE')
            FROM omd._fitting_templates(m.module_id) AS t
        );
END;

COMMENT ON FUNCTION omd.runs_of_lake IS
'For rooms: Returns those of the runs p_instance_array that stand and whose rollback is a commit '
'of Iceberg tables and nothing else, by id. Locks: none.';
