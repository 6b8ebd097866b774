-- What was accepted has come, by whomever it was brought; and a redelivery of ours that is refused
-- has been judged anew. One that a person rejects is not to be read again from the same files.

CREATE OR REPLACE FUNCTION omd_delivery._follow_returns(
    p_delivery omd_delivery.delivery,
    p_status text,
    p_event text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $follow_returns$
DECLARE
    v_entry record;
    v_is_settled boolean := FALSE;
BEGIN
    IF p_event NOT IN (
        'apply_delta', 'stage_verdict', 'begin_delivery', 'reject_delivery', 'cancel_delivery',
        'revert_delivery'
    )
        OR p_status IN ('LOADED', 'VALIDATED')
        OR p_delivery.is_dry_run
    THEN
        RETURN;
    END IF;
    FOR v_entry IN
        SELECT r.recall_id, r.position, r.delivery_id, r.ended_datetime
        FROM omd_delivery.agreement AS a
        INNER JOIN omd.awaited_return AS r ON a.batch_code = r.module_code
        WHERE a.agreement_id = p_delivery.agreement_id
            AND r.snapshot_datetime = p_delivery.snapshot_datetime
            AND r.drop_reason IS NULL
            AND (r.ended_datetime IS NULL OR p_status = 'REVERTED')
        ORDER BY r.recall_id, r.position
    LOOP
        IF p_status = 'ACCEPTED' THEN
            PERFORM omd.settle_return(
                v_entry.recall_id, v_entry.position, p_delivery.delivery_id, TRUE
            );
        ELSIF v_entry.delivery_id IS DISTINCT FROM p_delivery.delivery_id THEN
            CONTINUE;
        ELSIF p_status = 'REFUSED' THEN
            PERFORM omd.settle_return(
                v_entry.recall_id, v_entry.position, p_delivery.delivery_id, TRUE,
                p_problem => format('delivery %s is REFUSED', p_delivery.delivery_id)
            );
        ELSE
            PERFORM omd.settle_return(
                v_entry.recall_id, v_entry.position, NULL, FALSE,
                p_is_by_hand => p_status = 'REJECTED' OR NULL,
                p_problem => format('delivery %s is %s', p_delivery.delivery_id, p_status)
            );
        END IF;
        v_is_settled := TRUE;
    END LOOP;
    IF v_is_settled THEN
        PERFORM omd_delivery._find_withdrawn(p_delivery.interface_id);
    END IF;
END
$follow_returns$;

COMMENT ON FUNCTION omd_delivery._follow_returns IS
'Settles what recalls want to come again with p_delivery, which the routine p_event has given '
'p_status: ACCEPTED fills it, and so does REFUSED of a redelivery; any other end, and a revert of '
'what has filled it, leaves it open. Locks: the entries, the location, the arrival.';
