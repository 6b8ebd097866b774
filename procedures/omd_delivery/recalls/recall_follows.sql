-- The delta of a delivery was computed against LVL as it was: it stands only while the tables stand
-- that it read. And one that comes again needs the marks of its entities to be before its time.
-- Items of an interface are numbered in the order of their commits, so one pass in this order finds
-- what follows from what follows.

CREATE OR REPLACE FUNCTION omd_delivery.recall_follows(
    p_instance_array bigint[],
    p_again_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    because_of bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_follows$
DECLARE
    v_interface_id integer;
    v_first_id bigint;
    v_item record;
    v_cause bigint;
    v_taken bigint[];
    -- By entity: the run that changed it, and the one that comes again with it.
    v_changed jsonb;
    v_again jsonb;
    v_run_id bigint;
BEGIN
    FOR v_interface_id, v_first_id, v_taken IN
        SELECT q.interface_id, min(q.queue_id), array_agg(DISTINCT q.delivery_id)
        FROM omd_delivery.delivery_entity AS de
        INNER JOIN omd_delivery.delta_queue AS q USING (delivery_id)
        WHERE de.module_instance_id = ANY(p_instance_array)
        GROUP BY q.interface_id
        ORDER BY q.interface_id
    LOOP
        v_changed := '{}';
        v_again := '{}';
        FOR v_item IN
            SELECT q.delivery_id, q.entity_ids, q.delivery_id = ANY(v_taken) AS is_taken
            FROM omd_delivery.delta_queue AS q
            WHERE q.interface_id = v_interface_id AND q.queue_id >= v_first_id
            ORDER BY q.queue_id
        LOOP
            v_cause := NULL;
            IF NOT v_item.is_taken THEN
                SELECT max((coalesce(v_again -> de.entity_id::text, 'null') #>> '{}')::bigint)
                INTO v_cause
                FROM omd_delivery.delivery_entity AS de
                WHERE de.delivery_id = v_item.delivery_id;
                IF v_changed <> '{}' THEN
                    SELECT coalesce(max((v_changed ->> r.id::text)::bigint), v_cause)
                    INTO v_cause
                    FROM unnest(omd_delivery._read_entities(v_item.delivery_id)) AS r (id)
                    WHERE v_changed ? r.id::text;
                END IF;
                CONTINUE WHEN v_cause IS NULL;
            END IF;
            FOR v_run_id IN
                SELECT de.module_instance_id
                FROM omd_delivery.delivery_entity AS de
                WHERE de.delivery_id = v_item.delivery_id AND de.module_instance_id IS NOT NULL
                ORDER BY de.entity_id
            LOOP
                CONTINUE WHEN v_run_id = ANY(p_instance_array);
                module_instance_id := v_run_id;
                because_of := coalesce(
                    v_cause,
                    -- It is a part of a delivery another part of which is taken.
                    (
                        SELECT min(de.module_instance_id)
                        FROM omd_delivery.delivery_entity AS de
                        WHERE de.delivery_id = v_item.delivery_id
                            AND de.module_instance_id = ANY(p_instance_array)
                    )
                );
                RETURN NEXT;
            END LOOP;
            SELECT v_changed || coalesce(
                jsonb_object_agg(de.entity_id, de.module_instance_id)
                FILTER (WHERE de.entity_id = ANY(v_item.entity_ids)),
                '{}'
            )
            INTO v_changed
            FROM omd_delivery.delivery_entity AS de
            WHERE de.delivery_id = v_item.delivery_id AND de.module_instance_id IS NOT NULL;
            SELECT v_again || coalesce(jsonb_object_agg(de.entity_id, de.module_instance_id), '{}')
            INTO v_again
            FROM omd_delivery.delivery_entity AS de
            WHERE de.delivery_id = v_item.delivery_id
                AND de.module_instance_id IS NOT NULL
                AND (
                    NOT v_item.is_taken
                    OR EXISTS (
                        SELECT FROM omd_delivery.delivery_entity AS a
                        WHERE a.delivery_id = v_item.delivery_id
                            AND a.module_instance_id = ANY(p_again_array)
                    )
                );
        END LOOP;
    END LOOP;
END
$recall_follows$;

COMMENT ON FUNCTION omd_delivery.recall_follows IS
'For rooms: Returns the runs of entities that must go when the runs p_instance_array are taken '
'back, each because_of one of those or of these: the other runs of their deliveries; later '
'deliveries that have read a table in LVL which one of them changed; of p_again_array, those of '
'p_instance_array that come again, and of all that follow, later deliveries of their entities. '
'Runs of other rooms are passed over. Locks: none.';
