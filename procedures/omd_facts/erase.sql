-- A view does not show a key that was deleted, so no DELETE on it finds one. It goes as a physical
-- delete through the view does: where there is a current row, by that.

CREATE OR REPLACE PROCEDURE omd_facts.erase(
    p_interface_code text,
    p_entity_code text,
    p_key jsonb,
    INOUT p_rows bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase$
DECLARE
    v_interface omd_facts.interface := omd_facts._require_interface(p_interface_code);
    v_entity record;
    v_context record;
    v_id bigint;
    v_exists smallint;
    v_count bigint;
    v_word CONSTANT text := current_setting('omd_facts.delete_type', TRUE);
BEGIN
    IF p_entity_code IS NULL OR p_key IS NULL THEN
        PERFORM omd.raise_error(
            'OM005',
            jsonb_build_object(
                'argument', CASE WHEN p_key IS NULL THEN 'p_key' ELSE 'p_entity_code' END
            )
        );
    END IF;
    SELECT
        e.entity_id,
        format('%I.%I', 'cfl_' || i.interface_code, e.anchor_table) AS anchor,
        'cfl_' || i.interface_code || '.' || e.anchor_table AS anchor_name,
        format('%I.%I', 'gdal_' || i.interface_code, e.entity_code) AS view,
        array_agg(a.attribute_code ORDER BY a.attribute_code) AS codes,
        string_agg(format('%I %s', a.attribute_code, a.data_type), ', ') AS columns,
        string_agg(format('f.%1$I = k.%1$I', a.attribute_code), ' AND ') AS key_match
    INTO v_entity
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    INNER JOIN omd_facts.attribute AS a USING (entity_id)
    WHERE e.interface_id = v_interface.interface_id
        AND e.entity_code = p_entity_code
        AND e.entity_kind <> 'CONTEXT'
        AND a.key_position IS NOT NULL
    GROUP BY e.entity_id, i.interface_code, e.anchor_table, e.entity_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM036',
            jsonb_build_object(
                'argument', 'p_entity_code', 'value', p_entity_code,
                'problem', 'there is no such entity with keys of its own'
            )
        );
    ELSIF jsonb_typeof(p_key) <> 'object' OR v_entity.codes <> ARRAY(
        SELECT k.key FROM jsonb_object_keys(
            CASE WHEN jsonb_typeof(p_key) = 'object' THEN p_key ELSE '{}' END
        ) AS k (key)
        ORDER BY k.key
    ) THEN
        PERFORM omd.raise_error(
            'OM036',
            jsonb_build_object(
                'argument', 'p_key', 'value', left(p_key::text, 100),
                'problem', format('a key is an object of %s', array_to_string(v_entity.codes, ', '))
            )
        );
    END IF;
    PERFORM omd_facts._hold(v_interface.interface_id);
    PERFORM omd_facts._require_physical(v_interface.interface_id);
    PERFORM omd_facts._require_agreed(i.writer_terms, v_entity.entity_id, p_key, p_key, NULL)
    FROM omd_facts.interface AS i
    WHERE i.interface_id = v_interface.interface_id AND i.writer_terms IS NOT NULL;
    p_rows := 0;
    BEGIN
        EXECUTE format(
            'SELECT f.acm_id, f.acm_exists_ind FROM jsonb_to_record($1) AS k (%s)'
            ' INNER JOIN %s AS f ON %s',
            v_entity.columns, v_entity.anchor, v_entity.key_match
        ) INTO v_id, v_exists USING p_key;
    EXCEPTION
        WHEN data_exception THEN
            PERFORM omd.raise_error(
                'OM036',
                jsonb_build_object(
                    'argument', 'p_key', 'value', left(p_key::text, 100), 'problem', SQLERRM
                )
            );
    END;
    IF v_id IS NULL THEN
        RETURN;
    END IF;
    PERFORM omd_facts._raise_mark(v_entity.entity_id, i.traveling_now)
    FROM omd_facts.interface AS i
    WHERE i.interface_id = v_interface.interface_id;
    IF v_exists = 1 THEN
        PERFORM set_config('omd_facts.delete_type', 'PHYSICAL', TRUE);
    END IF;
    IF v_exists <> 1 THEN
        PERFORM omd_facts._note_erased(v_entity.entity_id, v_id, FALSE);
    END IF;
    FOR v_context IN
        SELECT
            c.entity_id,
            'cfl_' || p_interface_code || '.' || c.context_table AS name,
            format('%I.%I', 'cfl_' || p_interface_code, c.context_table) AS relation
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.context AS c USING (entity_id)
        WHERE v_entity.entity_id IN (e.entity_id, e.anchor_entity_id)
        ORDER BY c.context_id
    LOOP
        IF v_exists = 1 THEN
            EXECUTE format('SELECT count(*) FROM %s AS o WHERE o.acm_id = $1', v_context.relation)
            INTO v_count USING v_id;
        ELSE
            EXECUTE format('DELETE FROM %s AS o WHERE o.acm_id = $1', v_context.relation)
            USING v_id;
            GET DIAGNOSTICS v_count = ROW_COUNT;
            PERFORM omd_facts._log_removal(
                v_interface.interface_id, v_context.entity_id, 'CONTEXT', v_context.name, v_count
            )
            WHERE v_count > 0 OR v_context.entity_id = v_entity.entity_id;
        END IF;
        p_rows := p_rows + v_count;
    END LOOP;
    IF v_exists = 1 THEN
        EXECUTE format('DELETE FROM %s AS f WHERE f.acm_id = $1', v_entity.view) USING v_id;
        PERFORM set_config('omd_facts.delete_type', coalesce(v_word, ''), TRUE);
        RETURN;
    END IF;
    EXECUTE format(
        'UPDATE %s AS a SET acm_physically_removed_ind = 1, acm_physically_removed_by ='
        ' (SELECT i.writer_instance_id FROM omd_facts.interface AS i WHERE i.interface_id = $2)'
        ' WHERE a.acm_id = $1',
        v_entity.anchor
    ) USING v_id, v_interface.interface_id;
    PERFORM omd_facts._log_removal(
        v_interface.interface_id, v_entity.entity_id, 'ANCHOR', v_entity.anchor_name, 1
    );
    PERFORM omd_facts._analyze_removed(v_entity.entity_id);
END
$erase$;

COMMENT ON PROCEDURE omd_facts.erase IS
'Deletes the key p_key, {attribute: value}, of the entity p_entity_code of the interface '
'p_interface_code physically, also one that was deleted before: all rows, open and closed, of its '
'contexts and of what is a context of it. The session writes under a delivery that allows it. '
'Returns p_rows, how many rows of contexts went; 0 when there is no such key. Errors: OM005: an '
'argument is NULL; OM013; OM014; OM031; OM036: there is no such entity with keys of its own, or '
'p_key is no key of it; OM062: the agreement does not name it; OM069: the delivery belongs to '
'another login; OM150: the session names no open delivery; OM151: an LVL delivery is not at an '
'end; OM156: the delivery does not allow it; OM159: readers are at work; OM251. Locks: the '
'interface in both rooms, its position, the rows; the tables, against DDL. Call again when the '
'answer was lost.';
REVOKE ALL ON PROCEDURE omd_facts.erase FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_facts.erase TO omd_runner, omd_data_writer;
