-- A load compares a delta with the open rows: it stands only while what it compared with stands.
-- One that comes again needs the marks of its entities to be before its time. Loads that share an
-- entity rise in their times, so one pass in this order finds what follows from what follows.

CREATE OR REPLACE FUNCTION omd_facts.recall_follows(
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
    v_first record;
    v_load omd_facts.load_log;
    v_written integer[];
    v_cause bigint;
    -- By entity: the load that wrote it, and the one that comes again with it.
    v_changed jsonb;
    v_again jsonb;
BEGIN
    FOR v_first IN
        SELECT
            l.interface_id,
            min(l.transaction_datetime) AS first_datetime,
            jsonb_object_agg(t.load_instance_id, t.because_of) AS taken
        FROM omd_facts._loads_of_runs(p_instance_array) AS t
        INNER JOIN omd_facts.load_log AS l ON t.load_instance_id = l.module_instance_id
        GROUP BY l.interface_id
        ORDER BY l.interface_id
    LOOP
        v_changed := '{}';
        v_again := '{}';
        FOR v_load IN
            SELECT l.* FROM omd_facts.load_log AS l
            WHERE l.interface_id = v_first.interface_id
                AND l.transaction_datetime >= v_first.first_datetime
                AND l.undone_by IS NULL
            ORDER BY l.transaction_datetime, l.module_instance_id
        LOOP
            v_written := omd_facts._written_entities(v_load);
            IF v_first.taken ? v_load.module_instance_id::text THEN
                v_cause := (v_first.taken ->> v_load.module_instance_id::text)::bigint;
            ELSE
                SELECT coalesce(
                    (
                        SELECT max((v_changed ->> e.id::text)::bigint)
                        FROM unnest(v_written) AS e (id)
                    ),
                    (
                        SELECT max((v_again ->> e.id::text)::bigint)
                        FROM unnest(v_load.entity_ids) AS e (id)
                    )
                )
                INTO v_cause;
                CONTINUE WHEN v_cause IS NULL;
            END IF;
            IF v_load.module_instance_id <> ALL(p_instance_array) THEN
                module_instance_id := v_load.module_instance_id;
                because_of := v_cause;
                RETURN NEXT;
            END IF;
            SELECT v_changed || coalesce(jsonb_object_agg(e.id, v_load.module_instance_id), '{}')
            INTO v_changed
            FROM unnest(v_written) AS e (id);
            IF NOT v_first.taken ? v_load.module_instance_id::text
                OR v_load.module_instance_id = ANY(p_again_array)
            THEN
                SELECT v_again || coalesce(jsonb_object_agg(e.id, v_load.module_instance_id), '{}')
                INTO v_again
                FROM unnest(v_load.entity_ids) AS e (id);
            END IF;
        END LOOP;
    END LOOP;
END
$recall_follows$;

COMMENT ON FUNCTION omd_facts.recall_follows IS
'For rooms: Returns the loads that must go when the runs p_instance_array are taken back, each '
'because_of one of those or of these: those of their deliveries; later ones that wrote an entity '
'which one of them wrote; of p_again_array, those of p_instance_array that come again from the '
'queue, and of all that follow, later ones of deliveries of their entities. Other runs of other '
'rooms are passed over. Locks: none.';
