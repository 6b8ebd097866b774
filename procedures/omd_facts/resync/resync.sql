-- The differences are put beside the deltas of deliveries, under a number that no delivery has, and
-- loaded as one; so there is one way to write facts in bulk.

CREATE OR REPLACE PROCEDURE omd_facts.resync(
    p_interface_code text,
    p_entity_code text DEFAULT NULL,
    p_dry_run boolean DEFAULT FALSE,
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_differences jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $resync$
DECLARE
    v_interface omd_facts.interface := omd_facts._require_interface(p_interface_code);
    v_unfinished_id bigint;
    v_entity record;
    v_counts jsonb;
    v_written jsonb := '{}'::jsonb;
    v_ids integer[] := '{}'::integer[];
    v_number CONSTANT bigint := -(pg_current_xact_id()::text::bigint);
    v_at timestamptz;
    v_indicator text;
    v_reason text;
BEGIN
    p_dry_run := omd.require_argument('p_dry_run', p_dry_run);
    PERFORM omd.require_read_committed();
    PERFORM omd_delivery.hold_interface(p_interface_code);
    v_unfinished_id := omd_delivery.unfinished_delivery(v_interface.interface_id);
    IF v_unfinished_id IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM154',
            jsonb_build_object(
                'delivery_id', v_unfinished_id, 'interface_code', p_interface_code
            )
        );
    END IF;
    IF p_entity_code IS NOT NULL AND NOT EXISTS (
        SELECT FROM omd_facts.entity AS e
        WHERE e.interface_id = v_interface.interface_id AND e.entity_code = p_entity_code
    ) THEN
        PERFORM omd.raise_error(
            'OM036',
            jsonb_build_object(
                'argument', 'p_entity_code', 'value', p_entity_code,
                'problem', 'there is no such entity'
            )
        );
    END IF;
    SELECT i.* INTO v_interface FROM omd_facts.interface AS i
    WHERE i.interface_id = v_interface.interface_id
    FOR NO KEY UPDATE;
    v_at := coalesce(v_interface.traveling_now + interval '1 microsecond', clock_timestamp());
    p_outcome := 'NOTHING';
    p_differences := '{}'::jsonb;
    FOR v_entity IN
        SELECT
            e.entity_id,
            e.entity_code,
            format('%I.%I', 'wrk_' || p_interface_code, 'delta_' || e.entity_code) AS delta,
            (
                SELECT string_agg(quote_ident(a.attribute_code), ', ' ORDER BY a.ordinal)
                FROM omd_facts.attribute AS a
                WHERE a.entity_id = e.entity_id
            ) AS columns
        FROM omd_facts.entity AS e
        WHERE e.interface_id = v_interface.interface_id
            AND (p_entity_code IS NULL OR e.entity_code = p_entity_code)
        ORDER BY e.load_order
    LOOP
        IF p_dry_run THEN
            EXECUTE format(
                'SELECT jsonb_object_agg(s.ind, s.n) FROM ('
                'SELECT d.acm_ind AS ind, count(*) AS n FROM (%s) AS d GROUP BY d.acm_ind) AS s',
                omd_facts._difference_sql(v_entity.entity_id)
            ) INTO v_counts;
        ELSE
            EXECUTE format(
                'WITH written AS (INSERT INTO %s (delivery_id, acm_record_ind, acm_audit_id, %s)'
                ' SELECT $1, d.acm_ind, 0, %s FROM (%s) AS d RETURNING acm_record_ind AS ind)'
                ' SELECT jsonb_object_agg(s.ind, s.n) FROM ('
                'SELECT w.ind, count(*) AS n FROM written AS w GROUP BY w.ind) AS s',
                v_entity.delta, v_entity.columns, v_entity.columns,
                omd_facts._difference_sql(v_entity.entity_id)
            ) INTO v_counts USING v_number;
        END IF;
        IF v_counts IS NOT NULL THEN
            v_ids := v_ids || v_entity.entity_id;
            p_differences := p_differences || jsonb_build_object(
                v_entity.entity_code, '{"N": 0, "A": 0, "R": 0}'::jsonb || v_counts
            );
        END IF;
    END LOOP;
    IF p_dry_run OR v_ids = '{}' THEN
        RETURN;
    END IF;
    CALL omd.begin_for_room(
        'facts.' || p_interface_code, NULL, NULL, NULL, 'omd_facts.resync', p_module_instance_id,
        v_indicator, v_reason
    );
    IF v_indicator <> 'P' THEN
        p_outcome := CASE v_indicator WHEN 'A' THEN 'RUNNING' ELSE 'SKIPPED' END;
    ELSE
        PERFORM omd_facts._begin_change(
            v_interface.interface_id, 'RESYNC', v_at, p_module_instance_id, NULL,
            omd_facts._with_supertypes(v_ids)
        );
        PERFORM omd_facts._load_roots(v_interface.interface_id, v_number);
        FOR v_entity IN
            SELECT e.entity_id, e.entity_code
            FROM omd_facts.entity AS e
            WHERE e.entity_id = ANY(v_ids)
            ORDER BY e.load_order
        LOOP
            v_counts := omd_facts._load_entity(
                v_entity.entity_id, v_number, v_at, p_module_instance_id, FALSE
            );
            v_written := v_written || jsonb_build_object(v_entity.entity_code, v_counts);
            PERFORM omd_delivery.raise_high_water_mark(v_entity.entity_id, v_at);
        END LOOP;
        PERFORM omd_facts._record_load(
            v_interface.interface_id, p_module_instance_id, NULL, NULL, v_at, v_ids, v_written
        );
        CALL omd.module_success(p_module_instance_id);
        p_outcome := 'PERSISTED';
        PERFORM omd.write_event(
            0, 0, 4, 'RESYNC',
            format(
                '%s: the facts of interface %s were made what LVL has, by Module Instance %s',
                omd.editor(), p_interface_code, p_module_instance_id
            )
        );
    END IF;
    FOR v_entity IN
        SELECT format('%I.%I', 'wrk_' || p_interface_code, 'delta_' || e.entity_code) AS delta
        FROM omd_facts.entity AS e
        WHERE e.entity_id = ANY(v_ids)
    LOOP
        EXECUTE format('DELETE FROM %s AS d WHERE d.delivery_id = $1', v_entity.delta)
        USING v_number;
    END LOOP;
END
$resync$;

COMMENT ON PROCEDURE omd_facts.resync IS
'Makes the current facts of the interface p_interface_code, or of its entity p_entity_code alone, '
'what LVL has, as one load at the traveling now and a microsecond; what was written through views '
'goes. p_dry_run: it only counts. Returns p_outcome: PERSISTED by p_module_instance_id, NOTHING, '
'RUNNING or SKIPPED, and p_differences, {entity: {"N", "A", "R"}}. Attributes of immutable '
'contexts are not compared. Errors: OM005, OM013, OM014, OM031, OM036: there is no such entity, '
'OM135, OM161, OM154: an LVL delivery is not at an end, OM251: the interface is not deployed. '
'Locks: the interface in both rooms, the Module row, the rows. May be NULL: p_module_instance_id. '
'It may take long.';
GRANT EXECUTE ON PROCEDURE omd_facts.resync TO omd_admin;
