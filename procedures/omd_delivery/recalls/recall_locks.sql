-- The interface is the one lock of the room.

CREATE OR REPLACE FUNCTION omd_delivery.recall_locks(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_locks$
BEGIN
    PERFORM FROM omd_delivery.interface AS i
    WHERE i.interface_id IN (
        SELECT d.interface_id
        FROM omd_delivery.delivery_entity AS de
        INNER JOIN omd_delivery.delivery AS d USING (delivery_id)
        WHERE de.module_instance_id = ANY(p_instance_array)
    )
    ORDER BY i.interface_id
    FOR NO KEY UPDATE;
END
$recall_locks$;

COMMENT ON FUNCTION omd_delivery.recall_locks IS
'For rooms: Takes the locks of the room for a recall of the runs p_instance_array; those of other '
'rooms are passed over. Locks: the interfaces, in id order, until the transaction ends.';
