-- A run may commit several times to one table; what others see is the last.

CREATE OR REPLACE FUNCTION omd_lake.described_runs(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    table_code text,
    table_version text,
    is_overwritten boolean
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        c.module_instance_id,
        c.table_code,
        (
            array_agg(
                coalesce(c.snapshot_id, c.sequence_number)::text
                ORDER BY c.sequence_number DESC
            )
        )[1] AS table_version,
        bool_or(c.operation = 'OVERWRITE') AS is_overwritten
    FROM omd_lake.table_commit AS c
    WHERE
        c.module_instance_id = any(p_instance_array)
        AND c.operation IN ('APPEND', 'OVERWRITE', 'HISTORY')
    GROUP BY c.module_instance_id, c.table_code;
END;

COMMENT ON FUNCTION omd_lake.described_runs IS
'For rooms: Returns the tables of the lake to which the runs p_instance_array have committed rows: '
'the last snapshot of Iceberg or version of Delta, and whether one of the commits replaced the '
'content. Locks: none.';
