-- A delivery that a recall withdrew may have been made of a folder: this is found again when it is
-- its turn, and not before, since a delivery of it would be in the way again.

CREATE OR REPLACE FUNCTION omd_delivery._find_withdrawn(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $find_withdrawn$
DECLARE
    v_arrival record;
BEGIN
    FOR v_arrival IN
        SELECT r.arrival_id, r.agreement_id
        FROM omd_delivery.agreement AS a
        INNER JOIN omd_delivery.delivery_return AS t ON a.agreement_id = t.agreement_id
        INNER JOIN omd_delivery.arrival AS r ON t.former_delivery_id = r.delivery_id
        WHERE a.interface_id = p_interface_id
            AND t.ended_datetime IS NULL
            AND t.return_status = 'DUE'
            AND r.arrival_status = 'REFUSED'
        ORDER BY r.agreement_id
    LOOP
        PERFORM omd_delivery._hold_location(v_arrival.agreement_id);
        UPDATE omd_delivery.arrival AS r SET
            arrival_status = 'FOUND',
            found_datetime = clock_timestamp(),
            delivery_id = NULL,
            refused_fingerprint = NULL,
            problem = NULL
        FROM omd_delivery.delivery AS d
        WHERE r.arrival_id = v_arrival.arrival_id
            AND r.delivery_id = d.delivery_id
            AND d.delivery_status = 'CANCELLED';
    END LOOP;
END
$find_withdrawn$;

COMMENT ON FUNCTION omd_delivery._find_withdrawn IS
'Makes the arrival of a delivery of the interface p_interface_id that a recall withdrew FOUND '
'again, when its entry is DUE. Locks: the location, the arrival.';
