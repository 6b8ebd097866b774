-- The facts have statuses of their own, and enter them in the same table.

CREATE OR REPLACE FUNCTION omd_delivery.move_delivery(
    p_delivery_id bigint,
    p_to_status text,
    p_reason text DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $move_delivery$
BEGIN
    PERFORM omd_delivery._require_delivery(p_delivery_id);
    PERFORM omd_delivery._move(p_delivery_id, p_to_status, NULL, p_reason);
END
$move_delivery$;

COMMENT ON FUNCTION omd_delivery.move_delivery IS
'For rooms: Gives the delivery p_delivery_id the status p_to_status, and records it with '
'p_reason. Errors: OM005: p_delivery_id is NULL; OM034: there is no such delivery; OM130: '
'omd_delivery.delivery_transition does not have the change. Locks: the delivery.';
