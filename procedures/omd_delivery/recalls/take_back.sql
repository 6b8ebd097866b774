-- The facts have given their loads back before, and the newest delivery goes first: so each finds
-- the rows of its keys as it has left them.

CREATE OR REPLACE FUNCTION omd_delivery.take_back(
    p_instance_array bigint[],
    p_recall_instance_id bigint,
    p_recall_id bigint,
    p_reason text
)
RETURNS TABLE (
    module_instance_id bigint,
    table_code text,
    rows_gone bigint,
    rows_returned bigint
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_back$
DECLARE
    v_run record;
    v_problem text;
    v_rows record;
    v_reason CONSTANT text := format('recall %s: %s', p_recall_id, p_reason);
BEGIN
    PERFORM omd_delivery.recall_locks(p_instance_array);
    FOR v_run IN
        SELECT
            d AS delivery,
            d.delivery_id,
            q.queue_id,
            q.queue_status,
            q.module_instance_id AS load_id,
            ARRAY(
                SELECT a.module_instance_id
                FROM omd_delivery.delivery_entity AS a
                WHERE a.delivery_id = d.delivery_id
                    AND a.module_instance_id IS NOT NULL
                ORDER BY a.entity_id
            ) AS runs
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.delta_queue AS q USING (delivery_id)
        WHERE d.delivery_id IN (
            SELECT de.delivery_id
            FROM omd_delivery.delivery_entity AS de
            WHERE de.module_instance_id = ANY(p_instance_array)
        )
        ORDER BY q.queue_id DESC
        FOR UPDATE OF q
    LOOP
        v_problem := CASE
            WHEN NOT v_run.runs <@ p_instance_array
                THEN 'only a part of its runs is to be taken back'
            WHEN omd_delivery._recall_problem(v_run.delivery) IS NOT NULL
                THEN omd_delivery._recall_problem(v_run.delivery)
            WHEN v_run.load_id > 0 AND (
                v_run.queue_status = 'PERSISTED' OR omd.instance_lives(v_run.load_id)
            )
                THEN 'the facts have taken it'
            ELSE (
                SELECT format('the later delivery %s of %s stands', m.delivery_id, e.entity_code)
                FROM omd_delivery.delivery_entity AS de
                INNER JOIN omd_delivery.delta_queue AS q USING (delivery_id)
                INNER JOIN omd_delivery.entity AS e USING (entity_id)
                INNER JOIN omd_delivery.high_water_mark AS m USING (entity_id)
                WHERE de.delivery_id = v_run.delivery_id
                    AND de.entity_id = ANY(q.entity_ids)
                    AND m.delivery_id IS DISTINCT FROM de.delivery_id
                ORDER BY e.ordinal
                LIMIT 1
            )
        END;
        IF v_problem IS NOT NULL THEN
            PERFORM omd_delivery._raise_not_reverted(v_run.delivery_id, v_problem);
        END IF;
        PERFORM omd_delivery._delete_strays(v_run.delivery_id);
        FOR v_rows IN
            SELECT de.module_instance_id AS run_id, de.entity_id, s.lvl_table
            FROM omd_delivery.delivery_entity AS de
            CROSS JOIN LATERAL omd_delivery._entity_sql(de.entity_id) AS s
            WHERE de.delivery_id = v_run.delivery_id
            ORDER BY de.entity_id
        LOOP
            module_instance_id := v_rows.run_id;
            table_code := v_rows.lvl_table;
            SELECT r.p_rows_gone, r.p_rows_returned INTO rows_gone, rows_returned
            FROM omd_delivery._revert_entity(
                v_run.delivery, v_rows.entity_id, p_instance_array
            ) AS r;
            PERFORM omd_delivery._revert_mark(v_run.delivery_id, v_rows.entity_id);
            PERFORM omd.write_event(
                v_rows.run_id, (v_run.delivery).batch_instance_id, 4, 'REVERTED',
                format(
                    'delivery %s was taken back by %s: %s',
                    v_run.delivery_id, omd.editor(), v_reason
                )
            );
            RETURN NEXT;
        END LOOP;
        DELETE FROM omd_delivery.delta_queue AS q WHERE q.queue_id = v_run.queue_id;
        -- Where no facts take the queue a delivery ends without them.
        IF v_run.queue_status = 'PERSISTED' THEN
            PERFORM omd_delivery._move(v_run.delivery_id, 'ACCEPTED', 'requeue_item', v_reason);
        END IF;
        PERFORM omd_delivery._move(v_run.delivery_id, 'REVERTED', 'take_back', v_reason);
        PERFORM omd.mark_taken_back(v_run.runs, p_recall_instance_id);
    END LOOP;
END
$take_back$;

COMMENT ON FUNCTION omd_delivery.take_back IS
'For rooms: Takes the accepted deliveries of the runs p_instance_array back for the run '
'p_recall_instance_id of the recall p_recall_id, because of p_reason, when the facts have given '
'their loads back: their rows leave LVL, what they had closed is open, their items leave the '
'queue, the marks are those of what stands, and they are REVERTED. Returns what went and what '
'came back, as recall_effects counts it. Errors: OM133: a delivery can''t be taken back, or not '
'without a later one. Locks: the interfaces, the items, the rows, the deliveries, the instances.';
