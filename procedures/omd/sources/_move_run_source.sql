-- The end of a run comes here only where somebody reads what its Module writes, so that it costs
-- the others nothing. A run that gave no numbers may have written, so it counts. One row is moved,
-- whatever the run has written, so two ends never wait for each other in a circle.

CREATE OR REPLACE FUNCTION omd._move_run_source(
    p_module_id integer,
    p_module_instance_id bigint,
    p_end_datetime timestamptz,
    p_row_counts bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $move_run_source$
BEGIN
    IF (SELECT coalesce(sum(c.n) = 0, FALSE) FROM unnest(p_row_counts) AS c (n)) THEN
        RETURN;
    END IF;
    PERFORM omd.move_source('runs.' || p_module_id, p_end_datetime, p_module_instance_id);
END
$move_run_source$;

COMMENT ON FUNCTION omd._move_run_source IS
'Moves the position of the runs of the Module p_module_id to its run p_module_instance_id, which '
'has ended at p_end_datetime, unless it says that it wrote nothing: p_row_counts are its numbers '
'of rows inserted, updated and deleted, NULL: not known. Locks: the source, beside readers.';
