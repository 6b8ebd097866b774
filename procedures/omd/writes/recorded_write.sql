-- A writer that asks this first need not copy a partition that is committed already.

CREATE OR REPLACE FUNCTION omd.recorded_write(
    p_module_instance_id bigint,
    p_write_number bigint,
    p_partition_number integer,
    p_table_code text
)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT l.row_count::bigint
    FROM omd.write_ledger AS l
    WHERE
        l.module_instance_id = p_module_instance_id
        AND l.write_number = p_write_number
        AND l.partition_number = p_partition_number
        AND l.table_code = p_table_code;
END;

COMMENT ON FUNCTION omd.recorded_write IS
'For programs: '
'Returns how many rows an earlier attempt of a partition has committed (see record_write); NULL '
'when none has. Locks: none. May be NULL: the value.';
GRANT EXECUTE ON FUNCTION omd.recorded_write TO omd_runner;
