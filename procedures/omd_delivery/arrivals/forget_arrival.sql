-- It is decided anew by the next look, so whoever forgets a folder that is gone finds nothing.

CREATE OR REPLACE PROCEDURE omd_delivery.forget_arrival(
    p_arrival_id bigint,
    p_reason text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $forget_arrival$
DECLARE
    v_arrival omd_delivery.arrival;
    v_agreement text;
    v_delivery omd_delivery.delivery;
BEGIN
    PERFORM omd.require_read_committed();
    p_arrival_id := omd.require_argument('p_arrival_id', p_arrival_id);
    p_reason := omd.require_argument('p_reason', p_reason);
    SELECT a.agreement_code INTO v_agreement
    FROM omd_delivery.arrival AS r
    INNER JOIN omd_delivery.agreement AS a USING (agreement_id)
    WHERE r.arrival_id = p_arrival_id;
    IF FOUND THEN
        PERFORM omd_delivery._hold_location(
            (omd_delivery._hold_agreement(v_agreement)).agreement_id
        );
    END IF;
    SELECT r.* INTO v_arrival
    FROM omd_delivery.arrival AS r
    WHERE r.arrival_id = p_arrival_id;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM044', jsonb_build_object('arrival_id', p_arrival_id));
    END IF;
    SELECT d.* INTO v_delivery
    FROM omd_delivery.delivery AS d
    WHERE d.delivery_id = v_arrival.delivery_id;
    IF v_arrival.arrival_status = 'TAKEN' OR (
        v_arrival.arrival_status = 'CHANGED'
        AND v_delivery.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED')
    ) THEN
        PERFORM omd.raise_error(
            'OM137',
            jsonb_build_object(
                'arrival_id', p_arrival_id,
                'arrival_status', v_arrival.arrival_status,
                'action', 'be forgotten',
                'next_command', format(
                    'omd call omd_delivery.cancel_delivery --delivery-id %s --reason why',
                    v_arrival.delivery_id
                )
            )
        );
    END IF;
    UPDATE omd_delivery.arrival AS r SET
        arrival_status = 'INCOMPLETE',
        delivery_id = NULL,
        refused_fingerprint = NULL,
        problem = format('%s has forgotten it: %s', omd.editor(), left(p_reason, 1000))
    WHERE r.arrival_id = p_arrival_id;
    PERFORM omd.write_event(
        0, 0, 4, 'FORGOTTEN',
        format(
            '%s: arrival %s of agreement %s was forgotten: %s',
            omd.editor(), p_arrival_id, v_agreement, p_reason
        )
    );
    IF v_arrival.delivery_id IS NOT NULL THEN
        PERFORM omd_delivery._write_event(
            v_delivery.delivery_id, v_delivery.delivery_status, v_delivery.delivery_status,
            'forget_arrival', v_delivery.attempt, p_reason
        );
    END IF;
END
$forget_arrival$;

COMMENT ON PROCEDURE omd_delivery.forget_arrival IS
'Forgets what became of the arrival p_arrival_id, because of p_reason, so that the next look finds '
'its folder again. Its delivery stays as it is. Errors: OM005: an argument is NULL; OM014: the '
'isolation level is not read committed; OM044: there is no such arrival; OM137: it is being '
'delivered: TAKEN, or CHANGED with a delivery that is not decided. Locks: the interface, the '
'location, the arrival. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.forget_arrival TO omd_admin;
