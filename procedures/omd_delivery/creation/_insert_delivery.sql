-- Deliveries of all layers begin alike.

CREATE OR REPLACE FUNCTION omd_delivery._insert_delivery(
    p_agreement omd_delivery.agreement,
    p_snapshot_datetime timestamptz,
    p_options jsonb,
    p_event text
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $insert_delivery$
DECLARE
    v_delivery_id bigint;
BEGIN
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    INSERT INTO omd_delivery.delivery (
        agreement_id, interface_id, layer_code, snapshot_datetime, delivery_status, options,
        context
    )
    VALUES (
        p_agreement.agreement_id,
        p_agreement.interface_id,
        p_agreement.layer_code,
        p_snapshot_datetime,
        'RECEIVED',
        p_agreement.options || coalesce(p_options, '{}'),
        p_agreement.context
    )
    RETURNING delivery_id INTO v_delivery_id;
    PERFORM omd_delivery._write_event(v_delivery_id, NULL, 'RECEIVED', p_event, 0, NULL);
    RETURN v_delivery_id;
END
$insert_delivery$;

COMMENT ON FUNCTION omd_delivery._insert_delivery IS
'Inserts a delivery under p_agreement at p_snapshot_datetime with p_options, by the routine '
'p_event, and returns its id. Locks: none.';
