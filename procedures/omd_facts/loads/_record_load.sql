-- Marks, traveling now and log belong to the rows, so they are of their transaction. A supertype
-- may have come to exist with a subtype, so its mark goes along.

CREATE OR REPLACE FUNCTION omd_facts._record_load(
    p_interface_id integer,
    p_module_instance_id bigint,
    p_queue_id bigint,
    p_delivery_id bigint,
    p_snapshot_datetime timestamptz,
    p_entity_ids integer[],
    p_row_counts jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $record_load$
DECLARE
    v_marked integer[] := omd_facts._with_supertypes(p_entity_ids);
    v_former jsonb;
    v_traveling_now timestamptz;
    v_anchors jsonb;
BEGIN
    -- Of an anchor that several entities name, the first one has seen it as it was.
    SELECT coalesce(jsonb_object_agg(f.entity_id, f.anchors), '{}'::jsonb) INTO v_anchors
    FROM (
        SELECT f.entity_id, jsonb_object_agg(f.id, f.state ORDER BY f.load_order DESC) AS anchors
        FROM (
            SELECT e.load_order, n.key AS entity_id, a.key AS id, a.value AS state
            FROM jsonb_each(p_row_counts) AS c
            INNER JOIN omd_facts.entity AS e
                ON e.interface_id = p_interface_id AND c.key = e.entity_code
            CROSS JOIN LATERAL jsonb_each(c.value -> 'former') AS n
            CROSS JOIN LATERAL jsonb_each(n.value) AS a
        ) AS f
        GROUP BY f.entity_id
    ) AS f;
    SELECT coalesce(jsonb_object_agg(m.id, k.mark_datetime), '{}'::jsonb) INTO v_former
    FROM unnest(v_marked) AS m (id)
    LEFT JOIN omd_facts.entity_mark AS k ON m.id = k.entity_id;
    INSERT INTO omd_facts.entity_mark AS k (entity_id, mark_datetime)
    SELECT m.id, p_snapshot_datetime
    FROM unnest(v_marked) AS m (id)
    ON CONFLICT (entity_id) DO UPDATE SET mark_datetime = excluded.mark_datetime
    WHERE k.mark_datetime < excluded.mark_datetime;
    SELECT i.traveling_now INTO v_traveling_now
    FROM omd_facts.interface AS i
    WHERE i.interface_id = p_interface_id;
    UPDATE omd_facts.interface AS i
    SET traveling_now = greatest(i.traveling_now, p_snapshot_datetime)
    WHERE i.interface_id = p_interface_id;
    INSERT INTO omd_facts.load_log (
        module_instance_id, interface_id, queue_id, delivery_id, load_kind, transaction_datetime,
        entity_ids, row_counts, former_marks, former_traveling_now, former_anchors
    )
    VALUES (
        p_module_instance_id, p_interface_id, p_queue_id, p_delivery_id,
        CASE WHEN p_queue_id IS NULL THEN 'RESYNC' ELSE 'LOAD' END,
        p_snapshot_datetime,
        v_marked,
        (SELECT coalesce(jsonb_object_agg(c.key, c.value - 'former'), '{}'::jsonb)
            FROM jsonb_each(p_row_counts) AS c),
        v_former,
        v_traveling_now,
        v_anchors
    );
    PERFORM omd_facts._end_change(c.change_id)
    FROM (
        SELECT c.change_id, c.module_instance_id
        FROM omd_facts.change AS c
        WHERE c.interface_id = p_interface_id
        ORDER BY c.change_id DESC
        LIMIT 1
    ) AS c
    WHERE c.module_instance_id = p_module_instance_id;
    PERFORM omd.tell_row_counts(
        coalesce(sum((c.value -> 'rows')::bigint), 0)::bigint,
        coalesce(sum(
            (c.value -> 'n')::bigint + (c.value -> 'a')::bigint + (c.value -> 'r')::bigint
        ), 0)::bigint,
        coalesce(sum((c.value -> 'closed')::bigint), 0)::bigint,
        coalesce(sum((c.value -> 'removed')::bigint), 0)::bigint
    )
    FROM jsonb_each(p_row_counts) AS c;
END
$record_load$;

COMMENT ON FUNCTION omd_facts._record_load IS
'Records a load of the interface p_interface_id by p_module_instance_id at p_snapshot_datetime, '
'which wrote p_row_counts in p_entity_ids; without p_queue_id it is a resync. Locks: the '
'interface in this room, the marks.';
