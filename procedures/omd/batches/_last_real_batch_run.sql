-- A real run has status S or F; aborted and skipped instances decide nothing. The function takes
-- two looks into an index, however many aborted instances came after.

CREATE OR REPLACE FUNCTION omd._last_real_batch_run(
    p_batch_id integer
)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT greatest(
        (
            SELECT max(bi.batch_instance_id) FROM omd.batch_instance AS bi
            WHERE bi.batch_id = p_batch_id AND bi.execution_status_code = 'S'
        ),
        (
            SELECT max(bi.batch_instance_id) FROM omd.batch_instance AS bi
            WHERE bi.batch_id = p_batch_id AND bi.execution_status_code = 'F'
        )
    );
END;

COMMENT ON FUNCTION omd._last_real_batch_run IS
'Returns the newest instance of the Batch p_batch_id with status S or F; NULL when it has none. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd._last_real_batch_run TO omd_reader;
