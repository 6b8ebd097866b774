-- What staging has read must be what was found: a verdict on a mixture would be one on nothing.

CREATE OR REPLACE PROCEDURE omd_delivery.check_arrival(
    p_delivery_id bigint,
    p_seen jsonb,
    INOUT p_is_same boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $check_arrival$
DECLARE
    v_agreement omd_delivery.agreement;
    v_arrival omd_delivery.arrival;
    v_seen record;
BEGIN
    PERFORM omd.require_read_committed();
    p_seen := omd.require_argument('p_seen', p_seen);
    PERFORM omd_delivery._require_seen(p_seen);
    SELECT a.* INTO v_agreement
    FROM omd_delivery.agreement AS a
    WHERE a.agreement_id = (omd_delivery._require_delivery(p_delivery_id)).agreement_id;
    PERFORM omd_delivery._hold_location(v_agreement.agreement_id);
    SELECT r.* INTO v_arrival
    FROM omd_delivery.arrival AS r
    WHERE r.delivery_id = p_delivery_id;
    IF NOT FOUND OR v_agreement.arrival IS NULL THEN
        PERFORM omd_delivery._raise_argument(
            'p_delivery_id', p_delivery_id::text, 'it was not made of a folder'
        );
    END IF;
    SELECT s.fingerprint, s.unfit INTO v_seen
    FROM omd_delivery._seen_folders(v_agreement, p_seen) AS s
    WHERE s.folder = v_arrival.folder;
    p_is_same := coalesce(v_seen.fingerprint = v_arrival.fingerprint, FALSE)
        AND v_seen.unfit IS NULL;
    IF NOT p_is_same AND v_arrival.arrival_status = 'TAKEN' AND v_seen.fingerprint IS NOT NULL THEN
        UPDATE omd_delivery.arrival AS r SET
            arrival_status = 'CHANGED',
            seen_fingerprint = v_seen.fingerprint,
            changed_datetime = clock_timestamp(),
            problem = 'it has another content than what was taken'
        WHERE r.arrival_id = v_arrival.arrival_id;
    END IF;
END
$check_arrival$;

COMMENT ON PROCEDURE omd_delivery.check_arrival IS
'For the driver: '
'Returns p_is_same, whether the folder of which the delivery p_delivery_id was made has the '
'content that was taken. p_seen: the folder, as report_arrivals takes it, seen after staging was '
'read. One with another content is CHANGED, and the caller fails its attempt. Errors: OM005: an '
'argument is NULL; OM014: the isolation level is not read committed; OM034: there is no such '
'delivery; OM036: it was not made of a folder, or p_seen is no such list. Locks: the location, the '
'arrival. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.check_arrival TO omd_runner;
