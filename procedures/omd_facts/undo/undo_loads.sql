-- It is the rollback of the Module of an interface. The newest load goes first, so that each finds
-- its rows as it has left them.

CREATE OR REPLACE FUNCTION omd_facts.undo_loads(
    p_interface_id integer,
    p_instance_array bigint[]
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $undo_loads$
DECLARE
    v_interface_code text;
    v_load omd_facts.load_log;
    v_undone_by bigint;
    v_count bigint := 0::bigint;
    v_first_id bigint;
    v_from timestamptz;
    v_entity_ids integer[] := '{}'::integer[];
    v_undone bigint[] := '{}'::bigint[];
BEGIN
    p_interface_id := omd.require_argument('p_interface_id', p_interface_id);
    p_instance_array := omd.require_argument('p_instance_array', p_instance_array);
    SELECT i.interface_code INTO v_interface_code
    FROM omd_facts.interface AS i WHERE i.interface_id = p_interface_id;
    IF NOT EXISTS (
        SELECT FROM omd_facts.load_log AS l
        WHERE l.interface_id = p_interface_id
            AND l.module_instance_id = ANY(p_instance_array)
            AND l.undone_by IS NULL
    ) THEN
        RETURN v_count;
    END IF;
    PERFORM omd_facts._take_position(p_interface_id);
    PERFORM omd_delivery.hold_interface(v_interface_code);
    PERFORM FROM omd_facts.interface AS i
    WHERE i.interface_id = p_interface_id
    FOR NO KEY UPDATE;
    SELECT max(o.id) INTO v_undone_by
    FROM omd_facts.interface AS i
    CROSS JOIN LATERAL omd.open_module_instances(i.module_id) AS o (id)
    WHERE i.interface_id = p_interface_id;
    PERFORM omd_facts._require_undoable(p_interface_id, p_instance_array);
    FOR v_load IN
        SELECT l.* FROM omd_facts.load_log AS l
        WHERE l.interface_id = p_interface_id
            AND l.module_instance_id = ANY(p_instance_array)
            AND l.undone_by IS NULL
        ORDER BY l.module_instance_id DESC
    LOOP
        IF v_load.queue_id IS NOT NULL THEN
            BEGIN
                PERFORM omd_delivery.requeue_alone(v_load.queue_id);
            EXCEPTION
                WHEN SQLSTATE 'OM135' THEN
                    PERFORM omd_facts._raise_not_undone(v_load, SQLERRM);
            END;
        END IF;
        PERFORM FROM omd_facts._undo_load(v_load, p_instance_array);
        UPDATE omd_facts.load_log AS l SET undone_by = coalesce(v_undone_by, 0::bigint)
        WHERE l.module_instance_id = v_load.module_instance_id;
        v_count := v_count + 1;
        v_undone := v_undone || v_load.module_instance_id;
        v_first_id := v_load.module_instance_id;
        v_from := least(v_from, v_load.transaction_datetime);
        v_entity_ids := v_entity_ids || v_load.entity_ids;
    END LOOP;
    PERFORM omd_facts._undo_change(
        p_interface_id, coalesce(v_undone_by, 0::bigint), v_undone, FALSE
    );
    PERFORM omd.close_source(omd_facts._source_code(p_interface_id), interval '0');
    -- Views over these tables are found from them.
    PERFORM omd.tell_undo(
        ARRAY(
            SELECT format('%I.%I', 'cfl_' || v_interface_code, t.table_name)
            FROM omd_facts.context AS c
            INNER JOIN omd_facts.entity AS e USING (entity_id)
            CROSS JOIN LATERAL (VALUES (c.context_table), (e.anchor_table)) AS t (table_name)
            WHERE c.entity_id = ANY(v_entity_ids)
            GROUP BY t.table_name
        ),
        v_from,
        v_first_id
    );
    RETURN v_count;
END
$undo_loads$;

COMMENT ON FUNCTION omd_facts.undo_loads IS
'For rooms: '
'Undoes the loads of the interface p_interface_id by the instances p_instance_array, which are all '
'that stand since the oldest of them, and returns how many there were; their items are queued '
'again, and those who have read their rows are warned. It is the rollback of the Module '
'facts.<interface>. Errors: OM034, OM005: an argument is NULL; OM130; OM153: a load deleted '
'physically, its delta is purged, or a later one stands; OM159: readers are at work for longer '
'than a minute. Locks: the position of the interface, against readers; the interface in both '
'rooms, the items, the rows.';
GRANT EXECUTE ON FUNCTION omd_facts.undo_loads TO omd_runner;
