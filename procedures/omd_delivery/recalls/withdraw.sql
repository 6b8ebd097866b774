-- Its folder must not be read before its turn, so the arrival is refused until then, without its
-- content being refused.

CREATE OR REPLACE FUNCTION omd_delivery.withdraw(
    p_delivery_id bigint,
    p_recall_id bigint,
    p_reason text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $withdraw$
DECLARE
    v_reason CONSTANT text := format('recall %s: %s', p_recall_id, p_reason);
BEGIN
    CALL omd_delivery.cancel_delivery(p_delivery_id, v_reason);
    UPDATE omd_delivery.arrival AS r SET
        problem = format('delivery %s was withdrawn, %s', p_delivery_id, v_reason)
    WHERE r.delivery_id = p_delivery_id;
END
$withdraw$;

COMMENT ON FUNCTION omd_delivery.withdraw IS
'For rooms: Cancels the delivery p_delivery_id, which is in the way of what the recall p_recall_id '
'makes come again, because of p_reason. Its arrival is found again when its own entry is due. '
'Errors: OM005: p_delivery_id is NULL; OM014: the isolation level is not read committed; OM034: '
'there is no such delivery; OM130: it has ended. Locks: the interface, the delivery, the instances '
'of a run, the location, the arrival.';
