-- What a run has read was taken back while it read, and it may have written rows of it. That is no
-- failure of the run, but its rows have to go.

CREATE OR REPLACE FUNCTION omd.abort_written(
    p_module_instance_id bigint,
    p_event_detail text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $abort_written$
BEGIN
    PERFORM omd.write_event(
        p_module_instance_id,
        omd._close_module_instance(p_module_instance_id, 'A'),
        4,
        'E -> A',
        p_event_detail
    );
    UPDATE omd.module_instance AS mi SET next_run_indicator = 'R'
    WHERE mi.module_instance_id = p_module_instance_id;
END
$abort_written$;

COMMENT ON FUNCTION omd.abort_written IS
'For rooms: Ends the Module Instance p_module_instance_id, which executes, with status A, and '
'lets the next begin of its Module undo the rows that it has written. p_event_detail: why. '
'Errors: OM004, OM005, OM101. Locks: the instance row.';
