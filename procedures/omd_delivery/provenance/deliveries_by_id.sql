-- Provenance asks about many deliveries at once.

CREATE OR REPLACE FUNCTION omd_delivery.deliveries_by_id(
    p_delivery_array bigint[]
)
RETURNS TABLE (
    delivery_id bigint,
    agreement_code text,
    snapshot_datetime timestamptz,
    delivery_status text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        d.delivery_id,
        a.agreement_code,
        d.snapshot_datetime,
        d.delivery_status
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
    WHERE d.delivery_id = any(p_delivery_array);
END;

COMMENT ON FUNCTION omd_delivery.deliveries_by_id IS
'For rooms: Returns the agreement, the snapshot and the status of the deliveries p_delivery_array. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery.deliveries_by_id TO omd_admin;
