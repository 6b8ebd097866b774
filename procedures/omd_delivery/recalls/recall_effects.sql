-- A row that a delivery wrote may have been closed by a later one, which goes too. What a delivery
-- closed comes back, unless its own run goes as well.

CREATE OR REPLACE FUNCTION omd_delivery.recall_effects(
    p_instance_array bigint[],
    p_is_counted boolean DEFAULT TRUE
)
RETURNS TABLE (
    module_instance_id bigint,
    delivery_id bigint,
    table_code text,
    action text,
    rows_go bigint,
    rows_back bigint,
    comes_again text,
    problem text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_effects$
DECLARE
    v_run record;
    v_sql record;
    v_by_hand text;
BEGIN
    FOR v_run IN
        SELECT d AS delivery, q.queue_id, de.entity_id, de.module_instance_id AS run_id
        FROM omd_delivery.delivery_entity AS de
        INNER JOIN omd_delivery.delivery AS d USING (delivery_id)
        INNER JOIN omd_delivery.delta_queue AS q USING (delivery_id)
        WHERE de.module_instance_id = ANY(p_instance_array)
        ORDER BY q.queue_id DESC, de.entity_id
    LOOP
        v_sql := omd_delivery._entity_sql(v_run.entity_id);
        module_instance_id := v_run.run_id;
        delivery_id := (v_run.delivery).delivery_id;
        table_code := v_sql.lvl_table;
        problem := omd_delivery._recall_problem(v_run.delivery);
        v_by_hand := omd_delivery._hand_reason(delivery_id);
        action := CASE
            WHEN problem IS NOT NULL THEN 'BLOCKED'
            WHEN v_by_hand IS NULL THEN 'REDELIVER'
            ELSE 'BY_HAND'
        END;
        comes_again := CASE WHEN v_by_hand IS NULL THEN 'FILES' ELSE 'HAND' END;
        problem := coalesce(problem, v_by_hand);
        rows_go := NULL;
        rows_back := NULL;
        IF p_is_counted AND action <> 'BLOCKED' THEN
            EXECUTE format(
                $sql$
                SELECT
                    (
                        SELECT count(*)
                        FROM %1$s AS d
                        INNER JOIN %2$s AS l ON %3$s
                        WHERE d.delivery_id = $1 AND l.acm_audit_id = $2
                    ),
                    (
                        SELECT count(*)
                        FROM %1$s AS d
                        INNER JOIN %2$s AS l ON %3$s
                        WHERE d.delivery_id = $1
                            AND l.acm_end_dt = $3
                            AND l.acm_audit_id <> ALL($4)
                    )
                $sql$,
                v_sql.delta_table, v_sql.lvl_table, v_sql.key_match
            )
            INTO rows_go, rows_back
            USING delivery_id, v_run.run_id, (v_run.delivery).snapshot_datetime, p_instance_array;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$recall_effects$;

COMMENT ON FUNCTION omd_delivery.recall_effects IS
'For rooms: Returns what it does to take the accepted deliveries of the runs p_instance_array '
'back, all together: a row per run, the newest delivery first, with its table in LVL. action and '
'comes_again are those of a delivery that comes again: REDELIVER, FILES; BY_HAND, HAND, and '
'problem says why; BLOCKED: it can''t be taken back, and problem says why. rows_go: rows with its '
'stamp; rows_back: rows of other runs than p_instance_array that it had replaced; NULL: '
'p_is_counted is false, or it is BLOCKED. Runs of other rooms are passed over. Locks: none.';
