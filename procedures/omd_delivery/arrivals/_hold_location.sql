-- The row of the location is the one lock of arrivals: who holds it sees what the former holder has
-- committed, and no two sessions wait for rows of each other.

CREATE OR REPLACE FUNCTION omd_delivery._hold_location(
    p_agreement_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_location$
BEGIN
    PERFORM FROM omd_delivery.arrival_location AS l
    WHERE l.agreement_id = p_agreement_id
    FOR NO KEY UPDATE;
END
$hold_location$;

COMMENT ON FUNCTION omd_delivery._hold_location IS
'Takes the lock of the arrivals of the agreement p_agreement_id. Locks: its row of '
'arrival_location, until the transaction ends.';
