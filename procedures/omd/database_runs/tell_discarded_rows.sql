-- It is a function of its own, since an executable of a user may call tell_row_counts with the
-- parameters that it always had.

CREATE OR REPLACE FUNCTION omd.tell_discarded_rows(
    p_rows_discarded bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $tell_discarded_rows$
BEGIN
    PERFORM set_config(
        'omd.row_counts',
        (
            coalesce(nullif(current_setting('omd.row_counts', TRUE), ''), '{}')::jsonb
            || jsonb_build_object('discarded', p_rows_discarded)
        )::text,
        TRUE
    );
END
$tell_discarded_rows$;

COMMENT ON FUNCTION omd.tell_discarded_rows IS
'For rooms: Tells run_module how many rows the SQL that it executes has left out on purpose '
'(p_rows_discarded; NULL counts as 0). Call it after omd.tell_row_counts. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.tell_discarded_rows TO omd_runner;
