-- A worker that dies while it looks holds nothing: the next one looks when the pause is over.

CREATE OR REPLACE PROCEDURE omd_delivery.claim_look(
    p_agreement_code text,
    INOUT p_arrival jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $claim_look$
DECLARE
    v_agreement omd_delivery.agreement;
    v_terms jsonb;
BEGIN
    PERFORM omd.require_name('p_agreement_code', p_agreement_code);
    PERFORM omd.require_read_committed();
    p_arrival := NULL;
    SELECT a.* INTO v_agreement
    FROM omd_delivery.agreement AS a
    WHERE a.agreement_code = p_agreement_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM033', jsonb_build_object('agreement_code', p_agreement_code));
    ELSIF v_agreement.arrival IS NULL OR v_agreement.inactive_indicator = 'Y' THEN
        RETURN;
    END IF;
    v_terms := omd_delivery._arrival_terms(v_agreement.arrival);
    PERFORM FROM omd_delivery.arrival_location AS l
    WHERE l.agreement_id = v_agreement.agreement_id
        AND (
            l.looked_datetime IS NULL
            OR l.looked_datetime + (v_terms ->> 'every')::interval <= clock_timestamp()
            -- A clock that was set back must not end the looks.
            OR l.looked_datetime > clock_timestamp()
        )
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE omd_delivery.arrival_location AS l SET looked_datetime = clock_timestamp()
    WHERE l.agreement_id = v_agreement.agreement_id;
    -- Whoever looks need not read again what was read before.
    p_arrival := v_terms;
    IF v_terms #>> '{ready,manifest}' IS NOT NULL THEN
        p_arrival := p_arrival || jsonb_build_object(
            'known',
            (
                SELECT coalesce(jsonb_agg(r.folder), '[]')
                FROM omd_delivery.arrival AS r
                WHERE r.agreement_id = v_agreement.agreement_id
                    AND r.arrival_status IN ('FOUND', 'TAKEN', 'DONE', 'CHANGED')
            )
        );
    END IF;
END
$claim_look$;

COMMENT ON PROCEDURE omd_delivery.claim_look IS
'For the driver: '
'Returns p_arrival, the arrival of the agreement p_agreement_code with all its defaults, when it '
'is time to look at its location: the caller looks, and calls report_arrivals. Of many callers one '
'gets it, once per every. Under a manifest known has the folders whose hashes were compared. NULL: '
'somebody has looked or looks now, the agreement has no arrival, or it is inactive. Errors: OM005: '
'p_agreement_code is NULL; OM013: it is not allowed as a name; OM014: the isolation level is not '
'read committed; OM033: there is no such agreement. Locks: the location, without a wait. May be '
'NULL: p_arrival.';
GRANT EXECUTE ON PROCEDURE omd_delivery.claim_look TO omd_runner;
