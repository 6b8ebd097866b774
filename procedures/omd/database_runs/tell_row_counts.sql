-- The row counts of a run come from its last statement, but some statements do not show them, such
-- as a CALL.

CREATE OR REPLACE FUNCTION omd.tell_row_counts(
    p_rows_input bigint DEFAULT NULL,
    p_rows_inserted bigint DEFAULT NULL,
    p_rows_updated bigint DEFAULT NULL,
    p_rows_deleted bigint DEFAULT NULL,
    p_rows_discarded bigint DEFAULT NULL,
    p_rows_rejected bigint DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $tell_row_counts$
BEGIN
    PERFORM set_config(
        'omd.row_counts',
        jsonb_build_object(
            'input', p_rows_input,
            'inserted', p_rows_inserted,
            'updated', p_rows_updated,
            'deleted', p_rows_deleted,
            'discarded', p_rows_discarded,
            'rejected', p_rows_rejected
        )::text,
        TRUE
    );
END
$tell_row_counts$;

COMMENT ON FUNCTION omd.tell_row_counts IS
'For programs: '
'Tells run_module the row counts of the SQL that it executes (numbers of rows; NULL counts as 0), '
'which replace those of its last statement. Call it in that SQL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.tell_row_counts TO omd_runner;
