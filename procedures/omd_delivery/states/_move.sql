-- This is the only place where the status of a delivery changes.

CREATE OR REPLACE FUNCTION omd_delivery._move(
    p_delivery_id bigint,
    p_to_status text,
    p_event text,
    p_reason text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $move$
DECLARE
    v_delivery omd_delivery.delivery;
BEGIN
    SELECT d.* INTO v_delivery
    FROM omd_delivery.delivery AS d
    WHERE d.delivery_id = p_delivery_id
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM omd_delivery._require_delivery(p_delivery_id);
    ELSIF NOT EXISTS (
        SELECT FROM omd_delivery.delivery_transition AS t
        WHERE t.layer_code = v_delivery.layer_code
            AND t.from_status = v_delivery.delivery_status
            AND t.to_status = p_to_status
            AND (p_event IS NULL OR t.event = p_event)
    ) THEN
        PERFORM omd.raise_error(
            'OM130',
            jsonb_build_object(
                'delivery_id', p_delivery_id,
                'delivery_status', v_delivery.delivery_status,
                'action', 'become ' || coalesce(left(p_to_status, 200), 'NULL'),
                'next_command', format(
                    'SELECT * FROM omd_delivery.delivery_event WHERE delivery_id = %s;',
                    p_delivery_id
                )
            )
        );
    END IF;
    UPDATE omd_delivery.delivery AS d SET
        delivery_status = p_to_status,
        status_datetime = clock_timestamp()
    WHERE d.delivery_id = p_delivery_id;
    PERFORM omd_delivery._write_event(
        p_delivery_id,
        v_delivery.delivery_status,
        p_to_status,
        coalesce(p_event, 'move_delivery'),
        v_delivery.attempt,
        p_reason
    );
    PERFORM omd_delivery._follow_delivery(p_delivery_id, p_to_status);
    PERFORM omd_delivery._follow_returns(
        v_delivery, p_to_status, coalesce(p_event, 'move_delivery')
    );
END
$move$;

COMMENT ON FUNCTION omd_delivery._move IS
'Gives the delivery p_delivery_id the status p_to_status, by the routine p_event (NULL: by any), '
'and records it with p_reason. Errors: OM005: p_delivery_id is NULL; OM034: there is no such '
'delivery; OM130: there is no such transition. Locks: the delivery; the '
'location and the arrival of which it was made, if there is one; what of a recall it fills.';
