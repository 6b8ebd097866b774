-- Before it there are only work rows and logs, after it everything. Whoever died before it begins
-- again, whoever died after it gets to know so.

CREATE OR REPLACE PROCEDURE omd_delivery.apply_delta(
    p_delivery_id bigint,
    p_attempt integer,
    p_written jsonb DEFAULT NULL,
    INOUT p_delivery_status text DEFAULT NULL,
    INOUT p_queue_id bigint DEFAULT NULL,
    INOUT p_row_counts jsonb DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $apply_delta$
DECLARE
    v_delivery omd_delivery.delivery;
    v_unknown text;
    v_entity record;
    v_rows record;
    v_entity_ids integer[] := '{}'::integer[];
    v_delivered_ids integer[] := '{}'::integer[];
BEGIN
    v_delivery := omd_delivery._hold_attempt(p_delivery_id, p_attempt);
    p_execution_status_code := 'S';
    SELECT v_delivery.delivery_status, q.queue_id, q.row_counts
    INTO p_delivery_status, p_queue_id, p_row_counts
    FROM omd_delivery.delta_queue AS q
    WHERE q.delivery_id = p_delivery_id;
    IF FOUND THEN
        RETURN;
    END IF;
    PERFORM omd_delivery._require_event(v_delivery, 'apply_delta', 'be applied');
    PERFORM omd_delivery._require_run(v_delivery);
    PERFORM omd_delivery._require_marks(p_delivery_id);
    SELECT w.key INTO v_unknown
    FROM jsonb_each(CASE jsonb_typeof(p_written) WHEN 'object' THEN p_written END) AS w
    WHERE NOT omd.is_count(w.value) OR NOT EXISTS (
        SELECT FROM omd_delivery.delivery_entity AS de
        INNER JOIN omd_delivery.entity AS e USING (entity_id)
        WHERE de.delivery_id = p_delivery_id AND e.entity_code = w.key
    )
    LIMIT 1;
    IF FOUND OR jsonb_typeof(p_written) NOT IN ('object', 'null') THEN
        PERFORM omd.raise_error(
            'OM134',
            jsonb_build_object(
                'delivery_id', p_delivery_id,
                'entity', left(coalesce(v_unknown, 'p_written'), 200),
                'problem', 'p_written is an object of delivered entities and numbers of rows'
            )
        );
    END IF;

    -- Whoever writes rows of the delta holds the delivery: they are committed when it is had, and
    -- nobody adds any behind the count.
    PERFORM FROM omd_delivery.delivery AS d WHERE d.delivery_id = p_delivery_id FOR UPDATE;
    PERFORM omd_delivery._delete_strays(p_delivery_id);
    p_row_counts := '{}';
    FOR v_entity IN
        SELECT de.entity_id, e.entity_code, de.load_type, de.module_instance_id, r.rows_delivered,
            r.rows_skipped
        FROM omd_delivery.delivery_entity AS de
        INNER JOIN omd_delivery.entity AS e USING (entity_id)
        INNER JOIN omd_delivery.entity_result AS r
            ON de.delivery_id = r.delivery_id
                AND de.entity_id = r.entity_id
                AND r.attempt = p_attempt
                AND r.stage = 2
        WHERE de.delivery_id = p_delivery_id
        ORDER BY e.entity_id
    LOOP
        v_rows := omd_delivery._check_delta(
            v_delivery, v_entity.entity_id, v_entity.entity_code,
            (p_written ->> v_entity.entity_code)::bigint
        );
        PERFORM omd_delivery._apply_entity(
            v_delivery, v_entity.entity_id, v_entity.module_instance_id, v_rows.p_equal,
            v_rows.p_deleted
        );
        p_row_counts := p_row_counts || jsonb_build_object(
            v_entity.entity_code,
            jsonb_build_object('N', v_rows.p_new, 'A', v_rows.p_changed, 'R', v_rows.p_deleted)
        );
        v_delivered_ids := v_delivered_ids || v_entity.entity_id;
        IF v_rows.p_new + v_rows.p_changed + v_rows.p_deleted > 0 THEN
            v_entity_ids := v_entity_ids || v_entity.entity_id;
        END IF;
        UPDATE omd_delivery.delivery_entity AS de SET
            rows_new = v_rows.p_new,
            rows_changed = v_rows.p_changed,
            rows_deleted = v_rows.p_deleted,
            rows_unchanged = greatest(
                v_entity.rows_delivered - v_entity.rows_skipped - v_rows.p_new
                - v_rows.p_changed
                - CASE v_entity.load_type WHEN 'DELTA' THEN v_rows.p_deleted ELSE 0 END,
                0
            ),
            former_snapshot_datetime = m.snapshot_datetime,
            former_delivery_id = m.delivery_id
        FROM (VALUES (v_entity.entity_id)) AS e (entity_id)
        LEFT JOIN omd_delivery.high_water_mark AS m USING (entity_id)
        WHERE de.delivery_id = p_delivery_id AND de.entity_id = e.entity_id;
    END LOOP;
    INSERT INTO omd_delivery.high_water_mark (entity_id, snapshot_datetime, delivery_id)
    SELECT e.entity_id, v_delivery.snapshot_datetime, p_delivery_id
    FROM unnest(v_delivered_ids) AS e (entity_id)
    ON CONFLICT (entity_id) DO UPDATE SET
        snapshot_datetime = excluded.snapshot_datetime,
        delivery_id = excluded.delivery_id;
    INSERT INTO omd_delivery.delta_queue (
        delivery_id, interface_id, snapshot_datetime, delete_type, entity_ids,
        delivered_entity_ids, row_counts, model_version
    )
    VALUES (
        p_delivery_id, v_delivery.interface_id, v_delivery.snapshot_datetime,
        v_delivery.delete_type, v_entity_ids, v_delivered_ids, p_row_counts,
        v_delivery.model_version
    )
    RETURNING queue_id INTO p_queue_id;
    UPDATE omd_delivery.delivery AS d SET is_running = FALSE WHERE d.delivery_id = p_delivery_id;
    PERFORM omd_delivery._move(p_delivery_id, 'ACCEPTED', 'apply_delta', v_delivery.verdict);
    PERFORM omd.notify(
        'omd_delivery',
        jsonb_build_object(
            'event', 'look',
            'queue_id', p_queue_id,
            'interface_id', v_delivery.interface_id
        )::text
    );
    p_delivery_status := 'ACCEPTED';
    PERFORM omd_delivery._succeed_run(p_delivery_id);
END
$apply_delta$;

COMMENT ON PROCEDURE omd_delivery.apply_delta IS
'For programs: Applies what the run p_attempt of the delivery p_delivery_id wrote to '
'wrk_<interface>.delta_<entity> to LVL, and queues it for the facts, in one transaction: rows that '
'are equal leave the delta, rows that end are closed at T, new versions are inserted, the marks '
'are raised and the instances succeed. p_written: {entity: rows}, what was written; NULL: it is '
'not checked. Returns p_delivery_status (ACCEPTED), p_queue_id, p_row_counts, {entity: {"N", "A", '
'"R"}}, and p_execution_status_code (S). A second call answers the same. Errors: OM005: an '
'argument is NULL; OM014: the isolation level is not read committed; OM034: there is no such '
'delivery; OM037: an entity was delivered at the same time or later; OM101: an instance was ended '
'meanwhile; OM130: the delivery is in another status than VALIDATED; OM132: p_attempt is not its '
'newest run, or has ended; OM134: the delta is not what was written, or does not fit the current '
'rows. Locks: the interface, the delivery after those who write rows of it, the current rows of '
'the keys; the instances last. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.apply_delta TO omd_runner;
