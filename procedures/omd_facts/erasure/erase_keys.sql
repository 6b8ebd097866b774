-- Rows of contexts go first, so that only what is left refers to an anchor; then anchors, children
-- first. Changes of an anchor that has gone have no key any more, and go with it. One that stays is
-- noted as a change that ends its key, so that readers of changes forget the person too.

CREATE OR REPLACE FUNCTION omd_facts.erase_keys(
    p_subject jsonb
)
RETURNS TABLE (
    layer text,
    table_code text,
    outcome text,
    key_count bigint,
    row_count bigint,
    remark text,
    tables text[]
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase_keys$
DECLARE
    v_keys CONSTANT jsonb := p_subject -> 'keys';
    v_target record;
    v_entity record;
    v_context record;
    v_acm_ids bigint[];
    v_ids jsonb := '{}'::jsonb; -- per entity with an anchor: the acm_id
    v_entity_ids integer[];
    v_gone bigint[];
    v_roots bigint[];
    v_there bigint[];
    v_change_id bigint;
    v_is_referred text;
BEGIN
    SELECT array_agg(DISTINCT s.entity_id) INTO v_entity_ids
    FROM omd_facts._subject_sql(p_subject) AS s;
    IF v_entity_ids IS NULL THEN
        RETURN;
    END IF;
    FOR v_target IN
        SELECT s.* FROM omd_facts._subject_sql(p_subject) AS s WHERE s.entity_kind <> 'CONTEXT'
    LOOP
        EXECUTE format(
            'SELECT array_agg(DISTINCT a.acm_id) FROM %s AS a INNER JOIN %s ON %s',
            v_target.anchor, v_target.keys_sql, v_target.match_sql
        ) INTO v_acm_ids USING v_keys;
        v_ids := v_ids || jsonb_build_object(
            v_target.entity_id,
            coalesce(v_ids -> v_target.entity_id::text, '[]') || to_jsonb(coalesce(v_acm_ids, '{}'))
        );
    END LOOP;

    outcome := 'DELETED';
    layer := 'CONTEXT';
    FOR v_target IN
        SELECT s.* FROM omd_facts._subject_sql(p_subject) AS s
        WHERE s.entity_kind = 'CONTEXT' AND NOT v_ids ? s.anchor_entity_id::text
    LOOP
        table_code := v_target.context_table;
        EXECUTE format(
            'WITH gone AS (DELETE FROM %s AS o USING %s AS a, %s'
            ' WHERE o.acm_id = a.acm_id AND %s RETURNING o.acm_id)'
            ' SELECT count(DISTINCT g.acm_id), count(*), array_agg(DISTINCT g.acm_id) FROM gone AS g',
            v_target.context_table, v_target.anchor, v_target.keys_sql, v_target.match_sql
        ) INTO key_count, row_count, v_acm_ids USING v_keys;
        RETURN NEXT;
        EXECUTE format(
            'DELETE FROM omd_facts.change_slice AS s USING jsonb_array_elements($1) AS j (key)'
            ' WHERE s.entity_id = $2 AND s.acm_id = ANY($3) AND %s',
            v_target.slice_match
        ) USING v_keys, v_target.entity_id, v_acm_ids;
    END LOOP;
    FOR v_context IN
        SELECT e.anchor_entity_id, format('cfl_%s.%I', i.interface_code, c.context_table) AS name
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        INNER JOIN omd_facts.context AS c USING (entity_id)
        WHERE v_ids ? e.anchor_entity_id::text
        ORDER BY c.context_id
    LOOP
        table_code := v_context.name;
        EXECUTE format(
            'WITH gone AS (DELETE FROM %s AS o WHERE o.acm_id = ANY($1) RETURNING o.acm_id)'
            ' SELECT count(DISTINCT g.acm_id), count(*) FROM gone AS g',
            v_context.name
        )
        INTO key_count, row_count
        USING ARRAY(
            SELECT x::bigint
            FROM jsonb_array_elements_text(v_ids -> v_context.anchor_entity_id::text) AS x
        );
        RETURN NEXT;
    END LOOP;

    layer := 'ANCHOR';
    FOR v_entity IN
        SELECT
            e.*,
            format('cfl_%s.%I', i.interface_code, e.anchor_table) AS anchor,
            'cfl_' || i.interface_code AS cfl,
            ARRAY(
                SELECT x::bigint FROM jsonb_array_elements_text(v_ids -> e.entity_id::text) AS x
            ) AS ids
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        WHERE v_ids ? e.entity_id::text
        ORDER BY e.load_order DESC, e.entity_id
    LOOP
        SELECT string_agg(
            format('EXISTS (SELECT FROM %s AS r WHERE r.%I = a.acm_id)', r.relation, r.link), ' OR '
        )
        INTO v_is_referred
        FROM (
            SELECT DISTINCT format('%I.%I', v_entity.cfl, t.name) AS relation,
                'acm_fk_' || l.relationship_code AS link
            FROM omd_facts.link AS l
            INNER JOIN omd_facts.entity AS c ON l.entity_id = c.entity_id
            CROSS JOIN LATERAL (
                SELECT c.anchor_table AS name
                UNION
                SELECT x.context_table FROM omd_facts.context AS x WHERE x.entity_id = c.entity_id
            ) AS t
            INNER JOIN pg_attribute AS a
                ON a.attrelid = to_regclass(format('%I.%I', v_entity.cfl, t.name))
                    AND a.attname = 'acm_fk_' || l.relationship_code
                    AND NOT a.attisdropped
            WHERE l.parent_entity_id = v_entity.entity_id
        ) AS r;
        EXECUTE format(
            'SELECT array_agg(a.acm_id) FROM %s AS a WHERE a.acm_id = ANY($1)'
            ' AND a.acm_exists_ind = 1',
            v_entity.anchor
        ) INTO v_there USING v_entity.ids;
        EXECUTE format(
            'WITH gone AS (DELETE FROM %s AS a WHERE a.acm_id = ANY($1) AND (%s) IS NOT TRUE'
            ' RETURNING a.acm_id, %s AS root_id)'
            ' SELECT count(*), coalesce(array_agg(g.acm_id), ''{}''),'
            ' array_agg(DISTINCT g.root_id) FROM gone AS g',
            v_entity.anchor,
            coalesce(v_is_referred, 'FALSE'),
            CASE WHEN v_entity.key_root_code IS NULL THEN 'NULL::bigint' ELSE 'a.acm_kr_id' END
        ) INTO row_count, v_gone, v_roots USING v_entity.ids;
        table_code := v_entity.anchor;
        outcome := 'DELETED';
        key_count := row_count;
        RETURN NEXT;
        IF v_entity.generalization_code IS NOT NULL THEN
            EXECUTE format(
                'DELETE FROM cfl.%I AS g WHERE g.member_entity_id = $1 AND g.member_id = ANY($2)',
                'g_' || v_entity.generalization_code
            ) USING v_entity.entity_id, v_gone;
            GET DIAGNOSTICS row_count = ROW_COUNT;
            table_code := format('cfl.%I', 'g_' || v_entity.generalization_code);
            key_count := row_count;
            RETURN NEXT;
        END IF;
        IF v_entity.key_root_code IS NOT NULL THEN
            EXECUTE format(
                'DELETE FROM cfl.%I AS r WHERE r.acm_id = ANY($1) AND NOT (%s)',
                'kr_' || v_entity.key_root_code,
                (
                    SELECT string_agg(
                        format(
                            'EXISTS (SELECT FROM %I.%I AS a WHERE a.acm_kr_id = r.acm_id)',
                            'cfl_' || i.interface_code, e.anchor_table
                        ),
                        ' OR '
                    )
                    FROM omd_facts.entity AS e
                    INNER JOIN omd_facts.interface AS i USING (interface_id)
                    WHERE e.key_root_code = v_entity.key_root_code AND e.entity_kind <> 'CONTEXT'
                )
            ) USING v_roots;
            GET DIAGNOSTICS row_count = ROW_COUNT;
            table_code := format('cfl.%I', 'kr_' || v_entity.key_root_code);
            key_count := row_count;
            RETURN NEXT;
        END IF;
        EXECUTE format(
            'UPDATE %s AS a SET acm_exists_ind = 0, acm_physically_removed_ind = 1,'
            ' acm_physically_removed_by = NULL WHERE a.acm_id = ANY($1)',
            v_entity.anchor
        ) USING v_entity.ids;
        GET DIAGNOSTICS row_count = ROW_COUNT;
        IF row_count > 0 THEN
            table_code := v_entity.anchor;
            outcome := 'KEPT';
            key_count := row_count;
            remark := 'others refer to it, so it keeps its key';
            RETURN NEXT;
            remark := NULL;
            UPDATE omd_facts.entity AS e SET has_removals = TRUE
            WHERE e.entity_id = v_entity.entity_id AND NOT e.has_removals;
        END IF;
        -- Own keys of contexts may be the person's too.
        DELETE FROM omd_facts.change_slice AS s
        USING omd_facts.entity AS e
        WHERE e.anchor_entity_id = v_entity.entity_id
            AND s.entity_id = e.entity_id
            AND s.acm_id = ANY(v_entity.ids);
        DELETE FROM omd_facts.change_key AS k
        USING omd_facts.entity AS e
        WHERE e.anchor_entity_id = v_entity.entity_id
            AND k.entity_id = e.entity_id
            AND k.acm_id = ANY(v_gone);
        IF v_there IS NOT NULL AND NOT v_there <@ v_gone THEN
            v_change_id := coalesce(
                v_change_id,
                omd_facts._begin_change(
                    v_entity.interface_id, 'UNDO', NULL, NULL, NULL, v_entity_ids
                )
            );
            INSERT INTO omd_facts.change_key (change_id, entity_id, acm_id, was_there, is_there)
            SELECT v_change_id, e.entity_id, x.id, TRUE, FALSE
            FROM omd_facts.entity AS e
            CROSS JOIN unnest(v_there) AS x (id)
            WHERE e.anchor_entity_id = v_entity.entity_id
                AND e.keeps_changes
                AND x.id <> ALL(v_gone)
                AND v_change_id IS NOT NULL;
        END IF;
    END LOOP;
    PERFORM omd_facts._end_change(v_change_id);

    RETURN QUERY
    SELECT
        'NOT_REACHED', x.agreement_code, 'NOT_REACHED', NULL::bigint,
        count(DISTINCT x.delivery_id), 'files of exports', NULL::text[]
    FROM omd_facts.export AS x
    INNER JOIN omd_facts.export_entity AS n USING (delivery_id)
    WHERE n.entity_id = ANY(v_entity_ids) AND x.attempt > 0
    GROUP BY x.agreement_code
    ORDER BY x.agreement_code;
END
$erase_keys$;

COMMENT ON FUNCTION omd_facts.erase_keys IS
'For rooms: Erases the subject p_subject, {"interface", "entity", "keys", "targets": [{"entity", '
'"columns"}]}, from the facts, if its interface is deployed: all rows of contexts, and each anchor '
'to which nothing refers. Returns what left which table, and what stays. The caller has called '
'hold_erasure. Locks: the rows.';
