-- A run may log events of its own, but not of the types that OMD writes for administrators and
-- rollbacks: those are the audit trail.

CREATE OR REPLACE PROCEDURE omd.log_event(
    p_event_detail text,
    p_module_instance_id bigint DEFAULT NULL,
    p_batch_instance_id bigint DEFAULT NULL,
    p_event_type_code integer DEFAULT 3,
    p_event_return_code_details text DEFAULT NULL,
    p_error_bitmap bigint DEFAULT 0
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $log_event$
DECLARE
    v_batch_instance_id bigint;
BEGIN
    IF p_event_detail IS NULL AND p_event_return_code_details IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_event_detail'));
    END IF;
    PERFORM omd.require_code('event type', p_event_type_code::text);
    -- Only OMD itself writes the audit trail of administrators and rollbacks.
    IF p_event_type_code IN (4, 5) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_event_type_code',
                'value', p_event_type_code,
                'expected', '1, 2, 3, 6 or one of your own'
            )
        );
    END IF;

    IF p_module_instance_id IS NOT NULL THEN
        SELECT mi.batch_instance_id INTO v_batch_instance_id
        FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = p_module_instance_id;
        IF NOT FOUND THEN
            PERFORM omd.raise_error(
                'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
            );
        END IF;
    END IF;
    IF p_batch_instance_id IS NOT NULL THEN
        PERFORM omd._require_batch_instance(p_batch_instance_id);
        v_batch_instance_id := p_batch_instance_id;
    END IF;

    PERFORM omd.write_event(
        coalesce(p_module_instance_id, 0),
        coalesce(v_batch_instance_id, 0),
        coalesce(p_event_type_code, 3),
        p_event_return_code_details,
        p_event_detail,
        coalesce(p_error_bitmap, 0)
    );
END
$log_event$;

COMMENT ON PROCEDURE omd.log_event IS
'For programs: '
'Writes one event to the event log. p_event_detail: text of any length. p_event_type_code: 1 '
'infrastructure, 2 process, 3 the run''s own (default), 6 information. '
'p_event_return_code_details: a code. p_error_bitmap: bits of a data quality check. The Batch '
'Instance defaults to that of the Module Instance. Errors: OM003, OM004, OM005, OM006, OM013. '
'Locks: none. DIRECT, "Implementation Guidelines".';
GRANT EXECUTE ON PROCEDURE omd.log_event TO omd_runner, omd_admin;
