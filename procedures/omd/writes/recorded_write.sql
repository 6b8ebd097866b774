-- A writer that asks this first need not copy a partition that is committed already. Its input may
-- have ended early then: Spark, for one, does not tell a writer that what feeds it has failed.

CREATE OR REPLACE FUNCTION omd.recorded_write(
    p_module_instance_id bigint,
    p_write_number bigint,
    p_partition_number integer,
    p_table_code text,
    p_read_count bigint DEFAULT NULL
)
RETURNS bigint
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recorded_write$
DECLARE
    v_row_count bigint;
    v_read_count bigint;
BEGIN
    SELECT l.row_count::bigint, l.read_count INTO v_row_count, v_read_count
    FROM omd.write_ledger AS l
    WHERE
        l.module_instance_id = p_module_instance_id
        AND l.write_number = p_write_number
        AND l.partition_number = p_partition_number
        AND l.table_code = p_table_code;
    IF v_read_count <> p_read_count THEN
        PERFORM omd.raise_error(
            'OM144',
            jsonb_build_object(
                'table_code', p_table_code,
                'problem', format(
                    'an attempt has committed partition %s with %s rows read, and another one has '
                    'read %s',
                    p_partition_number, v_read_count, p_read_count
                )
            )
        );
    END IF;
    RETURN v_row_count;
END
$recorded_write$;

COMMENT ON FUNCTION omd.recorded_write IS
'For programs: '
'Returns how many rows an earlier attempt of a partition has committed (see record_write); NULL '
'when none has. p_read_count: rows that this attempt has read, if it has read its input; that one '
'must have read as many. Errors: OM144. Locks: none. May be NULL: the value.';
GRANT EXECUTE ON FUNCTION omd.recorded_write TO omd_runner;
