-- What the function of a view does with each context. Writes of one transaction to a row become
-- one: a row that began at its time is changed where it is. An immutable context is written once;
-- who inserts a deleted key again need not know what was said first.

CREATE OR REPLACE FUNCTION omd_facts._writer_blocks(
    p_context_id integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $writer_blocks$
DECLARE
    v_kind text;
    v_code text;
    v_pieces jsonb;
    v_new jsonb;
    v_is_existence boolean;
    v_check text := '';
    v_immutable CONSTANT text := $sql$
    SELECT o.* INTO o{c} FROM {now} AS o WHERE o.acm_id = v_id;
    IF FOUND AND TG_OP = 'INSERT' AND NOT {has_value} THEN
        {n_take}
    ELSIF FOUND AND {n_differs} THEN
        PERFORM omd.raise_error(
                'OM056', jsonb_build_object('entity_code', {entity}, 'key', v_key, 'context', {context_code})
            );
    END IF;$sql$;
    v_taken CONSTANT text := $sql$
    PERFORM FROM {now} AS o
    WHERE {n_match} AND o.acm_record_ind <> 'R' AND o.acm_id IS DISTINCT FROM v_id;
    IF FOUND THEN
        PERFORM omd.raise_error(
                'OM057', jsonb_build_object('entity_code', {entity}, 'key', v_key, 'context', {context_code})
            );
    END IF;$sql$;
    v_write CONSTANT text := $sql$
    SELECT o.* INTO o{c} FROM {now} AS o WHERE o.acm_id = v_id{n_own_match};
    IF NOT FOUND THEN
        IF {has_value} THEN
            v_indicator := 'N';
            INSERT INTO {now} (acm_id{own}, acm_start_dt, acm_end_dt, acm_record_ind,
                acm_audit_id, acm_entity_id{attributes}{links})
            VALUES (v_id{n_own}, v_at, {open}, v_indicator, v_audit_id,
                {entity_id}{n_attributes}{n_links});
            v_wrote := TRUE;
            {stamp}
        END IF;
    ELSIF o{c}.acm_record_ind = 'R' OR {n_differs} THEN
        v_indicator := CASE o{c}.acm_record_ind WHEN 'R' THEN 'N' ELSE 'A' END;
        IF o{c}.acm_start_dt < v_at THEN
            {close}
        ELSE
            SELECT x.acm_record_ind INTO v_former FROM {past} AS x
            WHERE x.acm_id = v_id{x_n_own_match} AND x.acm_end_dt = v_at;
            v_indicator := CASE WHEN FOUND AND v_former <> 'R' THEN 'A' ELSE 'N' END;
        END IF;
        UPDATE {now} AS o SET acm_start_dt = v_at, acm_record_ind = v_indicator,
            acm_audit_id = v_audit_id, acm_entity_id = {entity_id}{n_set}
        WHERE o.acm_id = v_id{n_own_match};
        v_wrote := TRUE;
        {stamp}
    END IF;$sql$;
    v_delete CONSTANT text := $sql$
    SELECT o.* INTO o{c} FROM {now} AS o
    WHERE o.acm_id = v_id{n_own_match} AND o.acm_record_ind <> 'R';
    IF FOUND THEN
        IF o{c}.acm_start_dt < v_at THEN
            {close}
        END IF;
        UPDATE {now} AS o SET acm_start_dt = v_at, acm_record_ind = 'R', acm_audit_id = v_audit_id
        WHERE o.acm_id = v_id{n_own_match};
        v_wrote := TRUE;
    END IF;$sql$;
    v_remove CONSTANT text := $sql$
        DELETE FROM {context} AS o WHERE o.acm_id = v_id{match};
        GET DIAGNOSTICS v_count = ROW_COUNT;
        PERFORM omd_facts._log_removal(
            {interface_id}, {context_entity_id}, 'CONTEXT', {context_name}, v_count
        ){where};$sql$;
    v_close CONSTANT text := $sql$INSERT INTO {past} (acm_id{own}, acm_start_dt, acm_end_dt,
                acm_record_ind, acm_audit_id, acm_entity_id{attributes}{links})
            VALUES (v_id{n_own}, o{c}.acm_start_dt, v_at, o{c}.acm_record_ind,
                o{c}.acm_audit_id, o{c}.acm_entity_id{oc_attributes}{oc_links});$sql$;
BEGIN
    SELECT
        c.context_kind,
        c.context_code,
        e.entity_kind = 'CONTEXT' OR c.context_code = 'properties'
    INTO v_kind, v_code, v_is_existence
    FROM omd_facts.context AS c
    INNER JOIN omd_facts.entity AS e USING (entity_id)
    WHERE c.context_id = p_context_id;
    v_pieces := omd_facts._context_pieces(p_context_id);
    SELECT
        jsonb_build_object(
            'n_own', coalesce(
                string_agg(format(', v_row.%I', a.attribute_code), '' ORDER BY a.key_position)
                FILTER (WHERE a.key_position IS NOT NULL), ''
            ),
            'n_own_match', coalesce(
                string_agg(
                    format(' AND o.%1$I = v_row.%1$I', a.attribute_code), '' ORDER BY a.key_position
                ) FILTER (WHERE a.key_position IS NOT NULL), ''
            ),
            'x_n_own_match', coalesce(
                string_agg(
                    format(' AND x.%1$I = v_row.%1$I', a.attribute_code), '' ORDER BY a.key_position
                ) FILTER (WHERE a.key_position IS NOT NULL), ''
            ),
            'n_attributes', coalesce(
                string_agg(format(', v_row.%I', a.attribute_code), '' ORDER BY a.ordinal)
                FILTER (WHERE a.key_position IS NULL), ''
            ),
            'oc_attributes', coalesce(
                string_agg(format(', o{c}.%I', a.attribute_code), '' ORDER BY a.ordinal)
                FILTER (WHERE a.key_position IS NULL), ''
            ),
            'n_set', coalesce(
                string_agg(format(', %1$I = v_row.%1$I', a.attribute_code), '' ORDER BY a.ordinal)
                FILTER (WHERE a.key_position IS NULL), ''
            ),
            'n_differs', coalesce(
                format(
                    '(%s) IS DISTINCT FROM (%s)',
                    string_agg(format('v_row.%I', a.attribute_code), ', ' ORDER BY a.ordinal)
                    FILTER (WHERE a.key_position IS NULL),
                    string_agg(format('o{c}.%I', a.attribute_code), ', ' ORDER BY a.ordinal)
                    FILTER (WHERE a.key_position IS NULL)
                ),
                'FALSE'
            ),
            'n_take', string_agg(
                format('v_row.%1$I := o{c}.%1$I;', a.attribute_code), ' ' ORDER BY a.ordinal
            ),
            'n_match', string_agg(
                format('o.%1$I = v_row.%1$I', a.attribute_code), ' AND ' ORDER BY a.ordinal
            ),
            'has_value', CASE
                WHEN v_kind IN ('immutable', 'alternate_key')
                    THEN format(
                        'num_nonnulls(%s) > 0',
                        string_agg(format('v_row.%I', a.attribute_code), ', ' ORDER BY a.ordinal)
                    )
                ELSE 'TRUE'
            END
        )
    INTO v_new
    FROM omd_facts.attribute AS a
    WHERE a.context_id = p_context_id;
    IF v_pieces ->> 'attributes' = '' THEN
        v_new := v_new || jsonb_build_object('n_differs', 'FALSE');
    END IF;
    SELECT
        v_new || jsonb_build_object(
            'n_links', coalesce(
                string_agg(
                    format(', %I', 'v_fk_' || l.relationship_code), '' ORDER BY l.relationship_code
                ),
                ''
            ),
            'oc_links', coalesce(
                string_agg(
                    format(', o{c}.%I', 'acm_fk_' || l.relationship_code), ''
                    ORDER BY l.relationship_code
                ),
                ''
            ),
            'n_set', concat(
                v_new ->> 'n_set',
                string_agg(
                    format(
                        ', %I = %I', 'acm_fk_' || l.relationship_code,
                        'v_fk_' || l.relationship_code
                    ),
                    '' ORDER BY l.relationship_code
                )
            )
        )
    INTO v_new
    FROM omd_facts.link AS l
    WHERE l.context_id = p_context_id;
    v_pieces := v_pieces || v_new || jsonb_build_object(
        'open', quote_literal(omd_facts._open_end()) || '::timestamptz',
        'context_code', quote_literal(v_code),
        'context_name', quote_literal(replace(v_pieces ->> 'context', '"', '')),
        'context_entity_id', (
            SELECT c.entity_id FROM omd_facts.context AS c WHERE c.context_id = p_context_id
        ),
        'stamp', CASE
            WHEN v_is_existence
                THEN
                    'v_row.acm_start_dt := v_at; v_row.acm_record_ind := v_indicator;'
                    ' v_row.acm_audit_id := v_audit_id;'
            ELSE ''
        END
    );
    IF v_kind = 'immutable' THEN
        v_check := omd_facts._fill(v_immutable, v_pieces);
        v_pieces := v_pieces || jsonb_build_object('n_differs', 'FALSE');
    ELSIF v_kind = 'alternate_key' THEN
        v_check := omd_facts._fill(v_taken, v_pieces);
    END IF;
    RETURN jsonb_build_object(
        'declare', replace(
            omd_facts._fill('o{c} {now}%ROWTYPE;', v_pieces), '{c}', p_context_id::text
        ),
        'check', replace(v_check, '{c}', p_context_id::text),
        'write', replace(
            omd_facts._fill(replace(v_write, '{close}', v_close), v_pieces),
            '{c}', p_context_id::text
        ),
        'delete', CASE v_kind
            WHEN 'immutable' THEN ''
            ELSE replace(
                omd_facts._fill(replace(v_delete, '{close}', v_close), v_pieces),
                '{c}', p_context_id::text
            )
        END,
        'remove', omd_facts._fill(
            replace(replace(v_remove, '{match}', '{n_own_match}'), '{where}', ''), v_pieces
        ),
        -- With the parent of a context_of go all of its rows.
        'remove_all', omd_facts._fill(
            replace(replace(v_remove, '{match}', ''), '{where}', ' WHERE v_count > 0'), v_pieces
        )
    );
END
$writer_blocks$;

COMMENT ON FUNCTION omd_facts._writer_blocks IS
'Returns the blocks of the function of a view that are about the context p_context_id. Locks: '
'none.';
REVOKE ALL ON FUNCTION omd_facts._writer_blocks FROM PUBLIC;
