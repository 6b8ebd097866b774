-- All of it is one transaction, and the success of the instance, which ends it, is its fence. What
-- readers see changes with its commit.

CREATE OR REPLACE FUNCTION omd_facts._load_item(
    p_queue_id bigint,
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $load_item$
DECLARE
    v_item record;
    v_interface omd_facts.interface;
    v_entity record;
    v_at timestamptz;
    v_counts jsonb;
    v_all jsonb := '{}'::jsonb;
BEGIN
    CALL omd.fence(p_module_instance_id);
    SELECT q.* INTO v_item FROM omd_delivery.queue_item(p_queue_id) AS q;
    SELECT i.* INTO v_interface
    FROM omd_facts.interface AS i
    WHERE i.interface_id = v_item.interface_id
    FOR NO KEY UPDATE;
    IF v_item.model_version > v_interface.model_version THEN
        PERFORM omd.raise_error(
            'OM251',
            jsonb_build_object(
                'interface_code', v_interface.interface_code,
                'problem', format(
                    'item %s is of version %s of the model, and %s is deployed',
                    p_queue_id, v_item.model_version, v_interface.model_version
                )
            )
        );
    END IF;
    IF v_item.delete_type = 'PHYSICAL' THEN
        PERFORM omd_facts._take_position(v_item.interface_id);
    END IF;
    -- T rises per entity, except that a subtype may have written its supertype at a later one.
    SELECT
        greatest(
            v_item.snapshot_datetime,
            max(k.mark_datetime) FILTER (WHERE k.mark_datetime >= v_item.snapshot_datetime)
            + interval '1 microsecond'
        )
    INTO v_at
    FROM omd_facts.entity_mark AS k
    WHERE k.entity_id = ANY(
        omd_facts._with_supertypes(v_item.entity_ids || v_item.delivered_entity_ids)
    );
    -- A load joins and sorts as much as what makes indexes, and is as rare.
    PERFORM set_config('work_mem', current_setting('maintenance_work_mem'), TRUE);
    -- Several statements look up the same rows, so three of four pages they read are in memory.
    PERFORM set_config(
        'random_page_cost',
        least(c.random, greatest(c.random / 4, c.sequential))::text,
        TRUE
    )
    FROM (
        SELECT
            current_setting('random_page_cost')::float8 AS random,
            current_setting('seq_page_cost')::float8 AS sequential
    ) AS c;
    PERFORM omd_delivery.require_delta(v_item.delivery_id, e.entity_id)
    FROM unnest(v_item.delivered_entity_ids) AS e (entity_id)
    WHERE NOT e.entity_id = ANY(v_item.entity_ids);
    PERFORM omd_facts._begin_change(
        v_item.interface_id, 'LOAD', v_at, p_module_instance_id, v_item.delivery_id,
        omd_facts._with_supertypes(v_item.entity_ids || v_item.delivered_entity_ids)
    );
    PERFORM omd_facts._load_roots(v_item.interface_id, v_item.delivery_id);
    FOR v_entity IN
        SELECT e.entity_id, e.entity_code
        FROM omd_facts.entity AS e
        WHERE e.entity_id = ANY(v_item.entity_ids)
        ORDER BY e.load_order
    LOOP
        v_counts := omd_facts._load_entity(
            v_entity.entity_id, v_item.delivery_id, v_at,
            p_module_instance_id, v_item.delete_type = 'PHYSICAL'
        );
        v_all := v_all || jsonb_build_object(v_entity.entity_code, v_counts);
    END LOOP;
    PERFORM omd.record_run_input(
        p_module_instance_id, ARRAY[r.table_code], ARRAY[r.module_instance_id]
    )
    FROM omd_delivery.entity_runs(v_item.delivery_id) AS r
    ORDER BY r.table_code;
    PERFORM omd_facts._record_load(
        v_item.interface_id, p_module_instance_id, p_queue_id, v_item.delivery_id,
        v_at, v_item.entity_ids || v_item.delivered_entity_ids, v_all
    );
    PERFORM omd_delivery.finish_queue_item(p_queue_id);
END
$load_item$;

COMMENT ON FUNCTION omd_facts._load_item IS
'Loads the item p_queue_id of the queue for p_module_instance_id; the caller ends the instance in '
'the same transaction. Errors: OM004, OM101, OM102, OM107, OM130, OM135: the rows of a delta are '
'not those that were accepted, OM159: it deletes physically, and readers are at work, OM251: the '
'item is of a newer model than is deployed. Locks: the interface in this room, the rows, the item, '
'the delivery.';
GRANT EXECUTE ON FUNCTION omd_facts._load_item TO omd_runner;
