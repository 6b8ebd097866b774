-- What waits behind the entry may be due now. A delivery that has begun is cancelled by whoever
-- does not want it.

CREATE OR REPLACE FUNCTION omd_delivery.drop_return(
    p_recall_id bigint,
    p_position integer,
    p_reason text
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $drop_return$
DECLARE
    v_agreement omd_delivery.agreement;
    v_status text;
BEGIN
    PERFORM omd.require_read_committed();
    v_agreement := omd_delivery._hold_agreement(
        (
            SELECT r.agreement_code FROM omd_delivery.delivery_return AS r
            WHERE r.recall_id = p_recall_id AND r.position = p_position
        )
    );
    SELECT r.return_status INTO v_status
    FROM omd_delivery.delivery_return AS r
    WHERE r.recall_id = p_recall_id AND r.position = p_position;
    IF v_status IN ('BY_HAND', 'WAITING', 'DUE') THEN
        PERFORM omd.settle_return(
            p_recall_id, p_position, NULL, TRUE, p_drop_reason => p_reason
        );
        PERFORM omd_delivery._find_withdrawn(v_agreement.interface_id);
        PERFORM omd.notify(
            'omd_delivery',
            jsonb_build_object('event', 'look', 'recall_id', p_recall_id)::text
        );
    END IF;
    RETURN v_status;
END
$drop_return$;

COMMENT ON FUNCTION omd_delivery.drop_return IS
'For rooms: Drops the open entry p_position of the recall p_recall_id because of p_reason, and '
'returns what its status was: BY_HAND, WAITING or DUE; in any other nothing happens. Errors: '
'OM005: there is no such entry of a delivery; OM014: the isolation level is not read committed. '
'Locks: the interface, the entry, the location, the arrival.';
