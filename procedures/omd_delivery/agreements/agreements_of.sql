-- A room makes what agreements of its layers need when it deploys an interface.

CREATE OR REPLACE FUNCTION omd_delivery.agreements_of(
    p_interface_id integer
)
RETURNS TABLE (
    agreement_code text,
    layer_code text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        a.agreement_code,
        a.layer_code
    FROM omd_delivery.agreement AS a
    WHERE a.interface_id = p_interface_id
    ORDER BY a.agreement_code;
END;

COMMENT ON FUNCTION omd_delivery.agreements_of IS
'For rooms: Returns the agreements of the interface p_interface_id and their layers. Locks: none.';
