-- One that the facts have, or behind which others stand, is taken back by a recall.

CREATE OR REPLACE PROCEDURE omd_delivery.revert_delivery(
    p_delivery_id bigint,
    p_reason text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $revert_delivery$
DECLARE
    v_delivery omd_delivery.delivery;
    v_item omd_delivery.delta_queue;
    v_later text;
    v_problem text;
    v_entity record;
    v_instance_id bigint;
    v_tables text[];
    v_first_id bigint;
BEGIN
    p_reason := omd.require_argument('p_reason', p_reason);
    v_delivery := omd_delivery._hold_delivery(p_delivery_id);
    PERFORM omd_delivery._require_event(v_delivery, 'revert_delivery', 'be reverted');
    SELECT q.* INTO v_item
    FROM omd_delivery.delta_queue AS q
    WHERE q.delivery_id = p_delivery_id
    FOR UPDATE;
    SELECT e.entity_code INTO v_later
    FROM omd_delivery.delivery_entity AS de
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    LEFT JOIN omd_delivery.high_water_mark AS m USING (entity_id)
    WHERE de.delivery_id = p_delivery_id AND m.delivery_id IS DISTINCT FROM p_delivery_id
    ORDER BY e.ordinal
    LIMIT 1;
    v_problem := CASE
        WHEN v_item.queue_status IS DISTINCT FROM 'QUEUED' THEN 'the facts have taken it'
        WHEN v_delivery.delete_type = 'PHYSICAL' THEN 'it deleted physically'
        WHEN v_later IS NOT NULL
            THEN format('a later delivery, or the facts, changed entity %s', v_later)
    END;
    IF v_problem IS NOT NULL THEN
        PERFORM omd_delivery._raise_not_reverted(p_delivery_id, v_problem);
    END IF;

    PERFORM omd_delivery._delete_strays(p_delivery_id);
    FOR v_entity IN
        SELECT de.entity_id
        FROM omd_delivery.delivery_entity AS de
        WHERE de.delivery_id = p_delivery_id
        ORDER BY de.entity_id
    LOOP
        PERFORM omd_delivery._revert_entity(v_delivery, v_entity.entity_id, '{}');
        PERFORM omd_delivery._revert_mark(p_delivery_id, v_entity.entity_id);
    END LOOP;
    DELETE FROM omd_delivery.delta_queue AS q WHERE q.delivery_id = p_delivery_id;
    PERFORM omd_delivery._move(p_delivery_id, 'REVERTED', 'revert_delivery', p_reason);
    PERFORM omd.mark_undone(
        ARRAY(
            SELECT de.module_instance_id FROM omd_delivery.delivery_entity AS de
            WHERE de.delivery_id = p_delivery_id AND de.module_instance_id IS NOT NULL
        )
    );
    -- A trace is one of a Module Instance, and each entity has its own.
    FOR v_instance_id IN
        SELECT de.module_instance_id FROM omd_delivery.delivery_entity AS de
        WHERE de.delivery_id = p_delivery_id AND de.module_instance_id IS NOT NULL
        UNION
        SELECT 0::bigint
        ORDER BY 1
    LOOP
        PERFORM omd.write_event(
            v_instance_id, v_delivery.batch_instance_id, 4, 'REVERTED',
            format('delivery %s was reverted by %s: %s', p_delivery_id, omd.editor(), p_reason)
        );
    END LOOP;
    SELECT array_agg((omd_delivery._entity_sql(de.entity_id)).lvl_table), min(de.module_instance_id)
    INTO v_tables, v_first_id
    FROM omd_delivery.delivery_entity AS de
    WHERE de.delivery_id = p_delivery_id;
    PERFORM omd.tell_undo(v_tables, v_delivery.snapshot_datetime, coalesce(v_first_id, 0));
END
$revert_delivery$;

COMMENT ON PROCEDURE omd_delivery.revert_delivery IS
'Takes the accepted delivery p_delivery_id back, as long as the facts have not: its rows leave '
'LVL, what they closed is open again, the marks go back to what they were, and its item leaves '
'the queue. Those who have read its rows are warned. p_reason: why. Errors: OM005: an argument is '
'NULL; OM014: the isolation level is not read committed; OM034: there is no such delivery; OM130: '
'it is in another status than ACCEPTED; OM133: the facts have taken it, it deleted physically, or '
'it is not the newest of each of its entities: omd_provenance.plan_recall takes such a one back. '
'Locks: the interface, the queue item, the rows, the delivery, its runs. Call again when the '
'answer was lost; OM130 with delivery_status REVERTED says that it is done.';
GRANT EXECUTE ON PROCEDURE omd_delivery.revert_delivery TO omd_admin;
