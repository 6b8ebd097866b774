-- A statement that can have nothing to do is left out: after a first load nothing is left to
-- compare. A delta names a key once, so what was looked up for one row serves no other one: the
-- planner, which does not know that, would keep it all the same, and read an index for each row.

CREATE OR REPLACE FUNCTION omd_facts._load_entity(
    p_entity_id integer,
    p_delivery_id bigint,
    p_snapshot_datetime timestamptz,
    p_module_instance_id bigint,
    p_is_physical boolean
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_memoize = off
AS $load_entity$
DECLARE
    v_entity record;
    v_step record;
    v_statement text;
    v_context_id integer;
    v_rows bigint;
    v_missing bigint := 0::bigint;
    v_left bigint;
    v_count bigint;
    v_n bigint;
    v_a bigint;
    v_r bigint;
    v_is_unindexed boolean;
    v_new bigint := 0::bigint;
    v_changed bigint := 0::bigint;
    v_deleted bigint := 0::bigint;
    v_closed bigint := 0::bigint;
    v_anchors bigint := 0::bigint;
    v_touched bigint := 0::bigint;
    v_removed bigint := 0::bigint;
    v_change_id bigint;
    v_former jsonb := omd_facts._removed_anchors(p_entity_id, p_delivery_id);
BEGIN
    SELECT
        e.*,
        'wrk_' || i.interface_code AS work_schema,
        'cfl_' || i.interface_code AS cfl,
        i.is_indexed
    INTO v_entity
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE e.entity_id = p_entity_id;
    -- Its change, if it has one, is the newest of the interface.
    SELECT c.change_id INTO v_change_id
    FROM (
        SELECT c.change_id, c.module_instance_id
        FROM omd_facts.change AS c
        WHERE c.interface_id = v_entity.interface_id
        ORDER BY c.change_id DESC
        LIMIT 1
    ) AS c
    WHERE c.module_instance_id = p_module_instance_id;
    v_rows := omd_delivery.require_delta(p_delivery_id, p_entity_id);
    PERFORM omd_facts._analyze_grown(
        v_entity.work_schema, 'delta_' || v_entity.entity_code, v_rows
    );
    v_is_unindexed := NOT v_entity.is_indexed AND EXISTS (
        SELECT FROM omd_facts._wanted_indexes(v_entity.interface_id) AS w
        WHERE to_regclass(format('%I.%I', w.schema_name, w.index_name)) IS NULL
    );
    BEGIN
        FOR v_step IN
            SELECT s.* FROM omd_facts._entity_statements(p_entity_id) WITH ORDINALITY AS s (
                place, step, context_id, statement, n
            )
            ORDER BY s.place, s.n
        LOOP
            IF v_step.context_id IS DISTINCT FROM v_context_id THEN
                v_context_id := v_step.context_id;
                v_left := v_rows;
            END IF;
            v_statement := v_step.statement;
            CONTINUE WHEN v_step.step = 'key' AND v_missing = 0;
            CONTINUE WHEN v_step.step IN ('change', 'close', 'take') AND v_left = 0;
            CONTINUE WHEN v_step.step = 'dates' AND v_anchors = v_rows;
            CONTINUE WHEN v_step.step IN ('remove', 'removed', 'erased') AND NOT p_is_physical;
            IF v_step.step = 'missing' THEN
                EXECUTE v_statement INTO v_count USING p_delivery_id;
                v_missing := v_missing + v_count;
            ELSIF v_step.step IN ('change', 'exchange') THEN
                EXECUTE v_statement INTO v_n, v_a, v_r
                USING p_delivery_id, p_snapshot_datetime, p_module_instance_id, p_is_physical,
                    v_change_id;
                v_count := v_n;
                v_new := v_new + v_n;
                v_changed := v_changed + v_a;
                v_deleted := v_deleted + v_r;
                IF v_step.step = 'change' THEN
                    v_closed := v_closed + v_n + v_a + v_r;
                END IF;
            ELSIF v_step.step = 'remove' THEN
                EXECUTE v_statement INTO v_n, v_count
                USING p_delivery_id, p_snapshot_datetime, p_module_instance_id, p_is_physical,
                    v_change_id;
                v_removed := v_removed + v_count;
                IF v_count > 0 THEN
                    PERFORM omd_delivery.log_removal(
                        p_delivery_id, p_entity_id, p_module_instance_id, 'CONTEXT',
                        (
                            SELECT format('%s.%s', v_entity.cfl, c.context_table)
                            FROM omd_facts.context AS c
                            WHERE c.context_id = v_context_id
                        ),
                        v_n, v_count
                    );
                END IF;
            ELSE
                EXECUTE v_statement
                USING p_delivery_id, p_snapshot_datetime, p_module_instance_id, p_is_physical,
                    v_change_id;
                GET DIAGNOSTICS v_count = ROW_COUNT;
                CASE v_step.step
                    WHEN 'anchor' THEN
                        v_anchors := v_count;
                        PERFORM omd_facts._analyze_grown(
                            v_entity.cfl, v_entity.anchor_table, v_count
                        );
                    WHEN 'insert' THEN
                        v_new := v_new + v_count;
                        v_left := v_rows - v_count;
                    WHEN 'close' THEN
                        v_closed := v_closed + v_count;
                        v_left := v_count;
                    WHEN 'dates' THEN
                        v_touched := v_count;
                    WHEN 'removed' THEN
                        IF v_count > 0 THEN
                            PERFORM omd_delivery.log_removal(
                                p_delivery_id, p_entity_id, p_module_instance_id, 'ANCHOR',
                                format('%s.%s', v_entity.cfl, v_entity.anchor_table), v_count, v_count
                            );
                            UPDATE omd_facts.entity AS e SET has_removals = TRUE
                            WHERE e.entity_id = p_entity_id;
                        END IF;
                    ELSE
                        NULL;
                END CASE;
            END IF;
            IF v_is_unindexed AND v_count > 0
                AND v_step.step IN ('key', 'own_key', 'anchor', 'insert', 'exchange', 'super_return')
            THEN
                PERFORM omd_facts._index_tables(v_entity.interface_id);
            END IF;
        END LOOP;
    EXCEPTION
        WHEN integrity_constraint_violation OR program_limit_exceeded THEN
            PERFORM omd_facts._raise_refused(
                p_entity_id, v_context_id, p_delivery_id, SQLSTATE, SQLERRM
            );
    END;
    PERFORM omd_facts._analyze_grown(
        v_entity.cfl, c.context_table || '_now', v_new
    )
    FROM omd_facts.context AS c
    WHERE c.entity_id = p_entity_id;
    IF v_removed > 0 THEN
        PERFORM omd_facts._analyze_removed(p_entity_id);
    END IF;
    RETURN jsonb_build_object(
        'rows', v_rows,
        'anchors', v_anchors,
        'n', v_new,
        'a', v_changed,
        'r', v_deleted,
        'closed', v_closed,
        'removed', v_removed,
        'former', v_former,
        'unchanged', CASE v_entity.entity_kind
            WHEN 'CONTEXT' THEN v_rows - v_new - v_changed - v_deleted
            ELSE v_rows - v_anchors - v_touched
        END
    );
END
$load_entity$;

COMMENT ON FUNCTION omd_facts._load_entity IS
'Loads the delta of p_delivery_id in the entity p_entity_id at p_snapshot_datetime for '
'p_module_instance_id, and returns what it wrote. Errors: OM161: a context does not take a row. '
'Locks: the rows.';
