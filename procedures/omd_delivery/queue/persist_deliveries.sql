-- An interface whose deliveries no facts take would keep its queue for ever: a PHYSICAL delivery
-- would block it, and no delta could be purged. A load of the facts leaves its Module Instance on
-- the item, and so is known without their name.

CREATE OR REPLACE PROCEDURE omd_delivery.persist_deliveries(
    p_interface_code text,
    p_keep interval DEFAULT '0',
    INOUT p_persisted bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $persist_deliveries$
DECLARE
    v_interface omd_delivery.interface;
    v_before timestamptz;
    v_queue_id bigint;
    v_item omd_delivery.delta_queue;
    v_former_id bigint;
BEGIN
    PERFORM omd.require_read_committed();
    v_before := omd.purge_cutoff(p_keep, 1);
    v_interface := omd_delivery._hold_interface(p_interface_code);
    p_persisted := 0::bigint;
    FOR v_queue_id IN
        SELECT q.queue_id
        FROM omd_delivery.delta_queue AS q
        WHERE q.interface_id = v_interface.interface_id
            AND q.queue_status <> 'PERSISTED'
            AND q.queued_datetime <= v_before
        ORDER BY q.queue_id
    LOOP
        v_item := omd_delivery._hold_item(v_queue_id);
        SELECT q.module_instance_id INTO v_former_id
        FROM omd_delivery.delta_queue AS q
        WHERE q.interface_id = v_interface.interface_id AND q.queue_id < v_queue_id
        ORDER BY q.queue_id DESC
        LIMIT 1;
        IF v_item.module_instance_id > 0 OR v_former_id > 0 THEN
            PERFORM omd_delivery._raise_item(v_queue_id, 'the facts take this queue');
        END IF;
        PERFORM omd_delivery.start_queue_item(v_queue_id, NULL);
        PERFORM omd_delivery.finish_queue_item(v_queue_id);
        p_persisted := p_persisted + 1;
    END LOOP;
END
$persist_deliveries$;

COMMENT ON PROCEDURE omd_delivery.persist_deliveries IS
'Ends the accepted deliveries of the interface p_interface_code that no facts take: they are '
'PERSISTED, so they can''t be reverted any more, their deltas can be purged, and a PHYSICAL '
'delivery may begin. p_keep: what was accepted within this time stays in the queue (0). Returns '
'p_persisted, their number. Facts that are built later begin with what is in LVL. Errors: OM005: '
'an argument is NULL; OM013: p_interface_code is not allowed as a name, or p_keep is negative; '
'OM014: the isolation level is not read committed; OM031: there is no such interface; OM034, '
'OM130: an item and its delivery disagree; OM135: the facts have taken a delivery of the '
'interface. Locks: the interface, the items, the deliveries. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.persist_deliveries TO omd_admin;
