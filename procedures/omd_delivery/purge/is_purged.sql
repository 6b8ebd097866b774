-- Without its delta an item can't be loaded again.

CREATE OR REPLACE FUNCTION omd_delivery.is_purged(
    p_delivery_id bigint
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT d.purged_datetime IS NOT NULL
    FROM omd_delivery.delivery AS d
    WHERE d.delivery_id = p_delivery_id;
END;

COMMENT ON FUNCTION omd_delivery.is_purged IS
'For rooms: Returns whether the deltas of the delivery p_delivery_id were purged; NULL: there is '
'no such delivery. Locks: none.';
