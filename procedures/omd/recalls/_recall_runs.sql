-- What an export has read is left alone, unless the export executes: then it may not succeed. A
-- statement that the database performs is waited for, never ended.

CREATE OR REPLACE FUNCTION omd._recall_runs(
    p_instance_array bigint[],
    OUT p_standing bigint[],
    OUT p_executing bigint[]
)
RETURNS record
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        coalesce(
            array_agg(mi.module_instance_id ORDER BY mi.module_instance_id) FILTER (
                WHERE
                mi.execution_status_code = 'S'
                AND mi.rolled_back_by_module_instance_id IS NULL
                AND m.module_kind_code <> 'EXPORT'
            ),
            '{}'
        ) AS p_standing,
        coalesce(
            array_agg(mi.module_instance_id ORDER BY mi.module_instance_id) FILTER (
                WHERE
                mi.execution_status_code = 'E'
                AND NOT mi.is_session_bound
                AND m.engine_code IS DISTINCT FROM 'POSTGRES'
            ),
            '{}'
        ) AS p_executing
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m ON mi.module_id = m.module_id
    WHERE
        mi.module_instance_id = any(p_instance_array)
        AND (
            m.module_kind_code = 'EXPORT'
            OR m.module_kind_code IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
        );
END;

COMMENT ON FUNCTION omd._recall_runs IS
'Returns those of the runs p_instance_array that are of kind SQL or JOB and stand, and those of '
'these kinds and EXPORT that execute outside of the database. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._recall_runs TO omd_admin;
