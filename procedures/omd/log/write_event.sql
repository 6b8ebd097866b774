-- Every event passes here, so all of them are dated alike.

CREATE OR REPLACE FUNCTION omd.write_event(
    p_module_instance_id bigint,
    p_batch_instance_id bigint,
    p_event_type_code integer,
    p_event_return_code_details text,
    p_event_detail text,
    p_error_bitmap bigint DEFAULT 0
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    INSERT INTO omd.event_log (
        module_instance_id, batch_instance_id, event_datetime, event_type_code,
        event_return_code_details, event_detail, error_bitmap
    )
    VALUES (
        p_module_instance_id, p_batch_instance_id, clock_timestamp(), p_event_type_code,
        p_event_return_code_details, p_event_detail, p_error_bitmap
    );
END;

COMMENT ON FUNCTION omd.write_event IS
'For rooms: Writes one row to omd.event_log, dated now. Locks: none.';
