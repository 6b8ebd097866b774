-- Loads are put back into the queue, so the lock of delivery comes before that of this room.

CREATE OR REPLACE FUNCTION omd_facts.recall_locks(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_locks$
DECLARE
    v_ids CONSTANT integer[] := ARRAY(
        SELECT l.interface_id
        FROM omd_facts.load_log AS l
        WHERE l.module_instance_id = ANY(p_instance_array)
        GROUP BY l.interface_id
        ORDER BY l.interface_id
    );
    v_interface record;
BEGIN
    FOR v_interface IN
        SELECT i.interface_code
        FROM omd_facts.interface AS i
        WHERE i.interface_id = ANY(v_ids)
        ORDER BY i.interface_id
    LOOP
        PERFORM omd_delivery.hold_interface(v_interface.interface_code);
    END LOOP;
    PERFORM FROM omd_facts.interface AS i
    WHERE i.interface_id = ANY(v_ids)
    ORDER BY i.interface_id
    FOR NO KEY UPDATE;
END
$recall_locks$;

COMMENT ON FUNCTION omd_facts.recall_locks IS
'For rooms: Takes the locks of the room for a recall of the loads p_instance_array; other runs are '
'passed over. Locks: the interfaces, in id order, first of delivery, then of this room, until the '
'transaction ends.';
