-- The lock of the interface comes first, so no two routines of the room wait for each other.

CREATE OR REPLACE FUNCTION omd_delivery._hold_delivery(
    p_delivery_id bigint
)
RETURNS omd_delivery.delivery
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_delivery$
BEGIN
    PERFORM omd.require_read_committed();
    PERFORM FROM omd_delivery.interface AS i
    WHERE i.interface_id = (omd_delivery._require_delivery(p_delivery_id)).interface_id
    FOR NO KEY UPDATE;
    -- This is a statement of its own, so that it sees what the former holder of the lock has
    -- committed.
    RETURN omd_delivery._require_delivery(p_delivery_id);
END
$hold_delivery$;

COMMENT ON FUNCTION omd_delivery._hold_delivery IS
'Returns the delivery p_delivery_id as it is under the lock of its interface. Errors: OM005: it '
'is NULL; OM014: the isolation level is not read committed; OM034: there is none. Locks: the '
'interface, until the transaction ends.';
