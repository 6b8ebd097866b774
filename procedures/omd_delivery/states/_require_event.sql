-- Which routine is accepted in which status stands in omd_delivery.delivery_transition alone.

CREATE OR REPLACE FUNCTION omd_delivery._require_event(
    p_delivery omd_delivery.delivery,
    p_event text,
    p_action text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_event$
BEGIN
    IF NOT EXISTS (
        SELECT FROM omd_delivery.delivery_transition AS t
        WHERE t.layer_code = p_delivery.layer_code
            AND t.from_status = p_delivery.delivery_status
            AND t.event = p_event
    ) THEN
        PERFORM omd.raise_error(
            'OM130',
            jsonb_build_object(
                'delivery_id', p_delivery.delivery_id,
                'delivery_status', p_delivery.delivery_status,
                'action', p_action,
                'next_command', coalesce(
                    CASE
                        WHEN p_event = 'revert_delivery'
                            THEN omd_delivery._way_back(p_delivery.delivery_id)
                    END,
                    format(
                        'SELECT * FROM omd_delivery.delivery_event WHERE delivery_id = %s;',
                        p_delivery.delivery_id
                    )
                )
            )
        );
    END IF;
END
$require_event$;

COMMENT ON FUNCTION omd_delivery._require_event IS
'Refuses the routine p_event for p_delivery unless a transition of its status belongs to it. '
'p_action: what it does, in words. Errors: OM130: it is in another status. Locks: none.';
