-- Whoever waits for a delivery listens instead of asking again and again.

CREATE OR REPLACE FUNCTION omd_delivery._write_event(
    p_delivery_id bigint,
    p_from_status text,
    p_to_status text,
    p_event text,
    p_attempt integer,
    p_reason text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write_event$
BEGIN
    INSERT INTO omd_delivery.delivery_event (
        delivery_id, from_status, to_status, event, attempt, reason, editor
    )
    VALUES (
        p_delivery_id, p_from_status, p_to_status, p_event, p_attempt, nullif(p_reason, ''),
        omd.editor()
    );
    PERFORM omd.notify(
        'omd_delivery',
        jsonb_build_object('event', 'look', 'delivery_id', p_delivery_id)::text
    );
END
$write_event$;

COMMENT ON FUNCTION omd_delivery._write_event IS
'Records that the routine p_event moved the delivery p_delivery_id from p_from_status (NULL: it '
'is new) to p_to_status in its run p_attempt, with p_reason, and tells whoever listens on '
'omd_delivery. Locks: none.';
