-- The fence and the ledger of a write are one call, so that it costs one round trip.

CREATE OR REPLACE PROCEDURE omd.record_write(
    p_module_instance_id bigint,
    p_write_number bigint,
    p_partition_number integer,
    p_table_code text,
    p_row_count bigint,
    INOUT p_is_first boolean DEFAULT NULL,
    INOUT p_recorded_row_count bigint DEFAULT NULL,
    p_read_count bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $record_write$
DECLARE
    v_missing text := CASE
        WHEN p_write_number IS NULL THEN 'p_write_number'
        WHEN p_partition_number IS NULL THEN 'p_partition_number'
        WHEN p_row_count IS NULL THEN 'p_row_count'
    END;
BEGIN
    -- An older snapshot would not see what another attempt has just committed.
    PERFORM omd.require_read_committed();
    IF v_missing IS NOT NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', v_missing));
    ELSIF least(p_row_count, p_read_count) < 0 THEN
        PERFORM omd.raise_error(
            'OM007',
            jsonb_build_object(
                'module_instance_id', p_module_instance_id,
                'row_count', least(p_row_count, p_read_count)
            )
        );
    END IF;
    PERFORM omd.require_name('p_table_code', p_table_code);
    CALL omd.fence(p_module_instance_id);

    INSERT INTO omd.write_ledger (
        module_instance_id, write_number, partition_number, table_code, row_count, read_count,
        write_datetime
    )
    VALUES (
        p_module_instance_id, p_write_number, p_partition_number, p_table_code, p_row_count,
        p_read_count, clock_timestamp()
    )
    ON CONFLICT DO NOTHING;
    p_is_first := FOUND;
    p_recorded_row_count := CASE
        WHEN p_is_first THEN p_row_count
        ELSE omd.recorded_write(
            p_module_instance_id, p_write_number, p_partition_number, p_table_code, p_read_count
        )
    END;
END
$record_write$;

COMMENT ON PROCEDURE omd.record_write IS
'For programs: '
'Lets the calling transaction commit the rows of one partition for a Module Instance, if the run '
'may still write (see fence) and the partition was not committed before. Call it last before the '
'commit, in the transaction of the rows. It returns p_is_first: TRUE, commit; FALSE, another '
'attempt was first: ROLLBACK, and count the p_recorded_row_count rows of that one. '
'p_write_number: the same for all partitions and attempts of one write, another for each write of '
'the run (next_write_number returns one). p_partition_number: the partition. p_table_code: the '
'table. p_row_count: rows written. p_read_count: rows read, of which each attempt must have as '
'many as the first; NULL: it is not compared. Errors: OM004, OM005, OM007, OM013, OM014, OM101, '
'OM102, OM107, OM144. Locks: the instance row FOR SHARE; another attempt of the partition waits '
'for the end of the transaction.';
GRANT EXECUTE ON PROCEDURE omd.record_write TO omd_runner;
