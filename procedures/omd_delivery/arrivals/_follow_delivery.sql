-- The arrival says what became of it in the commit that decides it. One that is to be moved is done
-- when it has been.

CREATE OR REPLACE FUNCTION omd_delivery._follow_delivery(
    p_delivery_id bigint,
    p_status text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $follow_delivery$
DECLARE
    v_agreement record;
BEGIN
    IF p_status NOT IN ('ACCEPTED', 'REFUSED', 'REJECTED', 'CANCELLED', 'CHECKED', 'REVERTED') THEN
        RETURN;
    END IF;
    SELECT a.agreement_id, a.arrival #> '{then,move}' IS NOT NULL AS is_moved INTO v_agreement
    FROM omd_delivery.arrival AS r
    INNER JOIN omd_delivery.agreement AS a USING (agreement_id)
    WHERE r.delivery_id = p_delivery_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM omd_delivery._hold_location(v_agreement.agreement_id);
    IF p_status = 'ACCEPTED' THEN
        UPDATE omd_delivery.arrival AS r SET arrival_status = 'DONE'
        WHERE r.delivery_id = p_delivery_id
            AND r.arrival_status = 'TAKEN'
            AND NOT v_agreement.is_moved;
    ELSE
        UPDATE omd_delivery.arrival AS r SET
            arrival_status = 'REFUSED',
            refused_fingerprint = r.fingerprint,
            problem = format('delivery %s is %s', p_delivery_id, p_status)
        WHERE r.delivery_id = p_delivery_id
            AND r.arrival_status IN ('TAKEN', 'DONE', 'CHANGED');
    END IF;
END
$follow_delivery$;

COMMENT ON FUNCTION omd_delivery._follow_delivery IS
'Gives the arrival of which the delivery p_delivery_id was made the status that follows from '
'p_status, that of the delivery. Locks: the location, the arrival.';
