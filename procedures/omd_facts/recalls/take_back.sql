-- The newest load goes first, so that each finds the rows of its keys as it has left them. An
-- interface gets one change for all its loads: a reader meets either all of them or none.

CREATE OR REPLACE FUNCTION omd_facts.take_back(
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
    v_interface_id integer;
    v_load omd_facts.load_log;
    v_later_id bigint;
    v_problem text;
    v_undone bigint[];
    v_wrote boolean;
BEGIN
    PERFORM omd_facts.recall_locks(p_instance_array);
    FOR v_interface_id IN
        SELECT l.interface_id
        FROM omd_facts.load_log AS l
        WHERE l.module_instance_id = ANY(p_instance_array) AND l.undone_by IS NULL
        GROUP BY l.interface_id
        ORDER BY l.interface_id
    LOOP
        PERFORM omd_facts._take_position(v_interface_id);
        v_undone := '{}';
        FOR v_load IN
            SELECT l.* FROM omd_facts.load_log AS l
            WHERE l.interface_id = v_interface_id
                AND l.module_instance_id = ANY(p_instance_array)
                AND l.undone_by IS NULL
            ORDER BY l.module_instance_id DESC
        LOOP
            -- Marks may have changed since by an undo of this call.
            SELECT l.* INTO v_load FROM omd_facts.load_log AS l
            WHERE l.module_instance_id = v_load.module_instance_id;
            SELECT l.module_instance_id INTO v_later_id
            FROM omd_facts.load_log AS l
            WHERE l.interface_id = v_interface_id
                AND l.transaction_datetime > v_load.transaction_datetime
                AND l.undone_by IS NULL
                AND omd_facts._written_entities(l) && omd_facts._written_entities(v_load)
            ORDER BY l.transaction_datetime
            LIMIT 1;
            v_problem := coalesce(
                omd_facts._recall_problem(v_load),
                'load ' || v_later_id || ' of the same entity is later and stands'
            );
            IF v_problem IS NOT NULL THEN
                PERFORM omd_facts._raise_not_undone(v_load, v_problem);
            END IF;
            IF v_load.queue_id IS NOT NULL THEN
                PERFORM omd_delivery.requeue_alone(v_load.queue_id);
            END IF;
            v_wrote := FALSE;
            module_instance_id := v_load.module_instance_id;
            FOR table_code, rows_gone, rows_returned IN
                SELECT u.table_code, u.rows_gone, u.rows_returned
                FROM omd_facts._undo_load(v_load, p_instance_array) AS u
            LOOP
                v_wrote := TRUE;
                RETURN NEXT;
            END LOOP;
            IF NOT v_wrote THEN
                table_code := NULL;
                rows_gone := 0;
                rows_returned := 0;
                RETURN NEXT;
            END IF;
            UPDATE omd_facts.load_log AS l SET undone_by = p_recall_instance_id
            WHERE l.module_instance_id = v_load.module_instance_id;
            IF v_load.queue_id IS NULL THEN
                PERFORM omd_delivery.lower_high_water_mark(
                    m.key::integer,
                    v_load.transaction_datetime,
                    (m.value #>> '{}')::timestamptz
                )
                FROM jsonb_each(v_load.former_marks) AS m;
            END IF;
            PERFORM omd.write_event(
                v_load.module_instance_id, 0, 4, 'UNDONE',
                format(
                    'the load was taken back by %s, recall %s: %s',
                    omd.editor(), p_recall_id, p_reason
                )
            );
            v_undone := v_undone || v_load.module_instance_id;
        END LOOP;
        PERFORM omd_facts._undo_change(v_interface_id, p_recall_instance_id, v_undone, TRUE);
    END LOOP;
    PERFORM omd.mark_taken_back(
        ARRAY(
            SELECT l.module_instance_id FROM omd_facts.load_log AS l
            WHERE l.module_instance_id = ANY(p_instance_array)
                AND l.undone_by = p_recall_instance_id
        ),
        p_recall_instance_id
    );
END
$take_back$;

COMMENT ON FUNCTION omd_facts.take_back IS
'For rooms: Takes the loads p_instance_array back for the run p_recall_instance_id of the recall '
'p_recall_id, because of p_reason, when all who have read them are taken back: their rows go, '
'what they had closed is open, their items are queued again, marks and traveling now are those of '
'what stands, and each interface gets one UNDO for its readers. Returns what went and what came '
'back, as recall_effects counts it. Errors: OM135: a run loads a later item; OM153: a load can''t '
'be taken back, or not without a later one; OM159: readers are at work. Locks: the interfaces of '
'both rooms, the positions against readers, the items, the rows, the instances.';
