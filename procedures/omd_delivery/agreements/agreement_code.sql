-- Who hears of a delivery names it by its agreement.

CREATE OR REPLACE FUNCTION omd_delivery.agreement_code(
    p_agreement_id integer
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.agreement_code
    FROM omd_delivery.agreement AS a
    WHERE a.agreement_id = p_agreement_id;
END;

COMMENT ON FUNCTION omd_delivery.agreement_code IS
'For rooms: Returns the code of the agreement p_agreement_id; NULL when there is none. Locks: '
'none.';
