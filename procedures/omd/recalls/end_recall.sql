-- All is undone, so the run may end as one that has proceeded.

CREATE OR REPLACE FUNCTION omd.end_recall(
    p_module_instance_id bigint,
    p_rows_gone bigint,
    p_rows_returned bigint,
    p_detail text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_recall$
BEGIN
    UPDATE omd.module_instance AS mi SET processing_indicator = 'P'
    WHERE mi.module_instance_id = p_module_instance_id;
    PERFORM omd.write_event(p_module_instance_id, 0, 5, 'RECALL', p_detail);
    CALL omd.module_success(
        p_module_instance_id, p_rows_inserted => p_rows_returned, p_rows_deleted => p_rows_gone
    );
END
$end_recall$;

COMMENT ON FUNCTION omd.end_recall IS
'For rooms: Ends the run p_module_instance_id of begin_recall with S, with the rows that went and '
'came back, and writes the event RECALL with p_detail. Locks: the instance row.';
