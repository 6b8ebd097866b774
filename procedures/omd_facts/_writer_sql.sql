-- Each current view has a function of its own, so that its statements are planned once per session.
-- The order of its checks is the contract.

CREATE OR REPLACE FUNCTION omd_facts._writer_sql(
    p_entity_id integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $writer_sql$
DECLARE
    v_entity record;
    v_keys text[];
    v_pieces jsonb;
    v_blocks record;
    v_links record;
    v_template CONSTANT text := $sql$
CREATE OR REPLACE FUNCTION {function}()
RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write$
-- An attribute may be called like a variable; columns are qualified.
#variable_conflict use_variable
DECLARE
    v_row {view}%ROWTYPE;
    v_anchor {anchor}%ROWTYPE;
    v_parent record;
    v_at timestamptz;
    v_audit_id bigint;
    v_id bigint;
    v_key jsonb;
    v_terms jsonb;
    v_former text;
    v_indicator text;
    v_null text;
    v_start timestamptz;
    v_count bigint;
    v_wrote boolean := FALSE;
    v_is_made boolean := FALSE;
    v_is_controlled boolean;
    {declare}
BEGIN
    IF TG_OP = 'DELETE' THEN
        v_row := OLD;
    ELSE
        v_row := NEW;
    END IF;
    v_key := jsonb_build_object({key_pairs});
    SELECT
        i.traveling_now, i.writer_instance_id, i.writer_terms,
        i.made_entity_id IS NOT DISTINCT FROM {entity_id}
    INTO v_at, v_audit_id, v_terms, v_is_made
    FROM omd_facts.interface AS i
    WHERE i.interface_id = {interface_id}
        AND i.writer_transaction = pg_current_xact_id_if_assigned();
    IF NOT FOUND THEN
        v_is_made := FALSE;
        PERFORM omd_facts._hold({interface_id});
        SELECT i.traveling_now, i.writer_instance_id, i.writer_terms
        INTO v_at, v_audit_id, v_terms
        FROM omd_facts.interface AS i
        WHERE i.interface_id = {interface_id};
    END IF;
    PERFORM FROM omd_facts.entity_mark AS k
    WHERE k.entity_id = {entity_id} AND k.mark_datetime = v_at;
    IF NOT FOUND THEN
        PERFORM omd_facts._raise_mark({entity_id}, v_at);
    END IF;
    PERFORM FROM omd_facts.control AS c WHERE c.entity_id = {entity_id} AND c.operation = TG_OP;
    v_is_controlled := FOUND;
    IF v_is_controlled AND TG_OP = 'DELETE' THEN
        PERFORM omd_facts._run_controls({entity_id}, TG_OP, 'BEFORE', to_jsonb(OLD), NULL);
    ELSIF v_is_controlled THEN
        v_row := jsonb_populate_record(
            v_row,
            omd_facts._run_controls(
                {entity_id}, TG_OP, 'BEFORE',
                CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(v_row)
            )
        );
        NEW := v_row;
        v_key := jsonb_build_object({key_pairs});
    END IF;
    IF v_terms IS NOT NULL AND NOT v_is_made THEN
        PERFORM omd_facts._require_agreed(
            v_terms, {entity_id}, v_key,
            CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END,
            CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(v_row) END
        );
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF num_nonnulls({n_system}) > 0 THEN
            PERFORM omd.raise_error(
                'OM058', jsonb_build_object('entity_code', {entity}, 'key', v_key)
            );
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        IF ({n_system}) IS DISTINCT FROM ({o_system}) THEN
            PERFORM omd.raise_error(
                'OM058', jsonb_build_object('entity_code', {entity}, 'key', v_key)
            );
        ELSIF ({n_keys}) IS DISTINCT FROM ({o_keys}) THEN
            PERFORM omd.raise_error(
                'OM052', jsonb_build_object('entity_code', {entity}, 'key', v_key)
            );
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        v_null := CASE {null_cases} END;
        IF v_null IS NOT NULL THEN
            PERFORM omd.raise_error(
                'OM053', jsonb_build_object('entity_code', {entity}, 'key', v_key, 'attribute', v_null)
            );
        END IF;
        {odd}
    END IF;
    SELECT a.* INTO v_anchor FROM {anchor} AS a WHERE {a_match};
    v_id := v_anchor.acm_id;
    {state_checks}
    {parents}
    IF TG_OP = 'DELETE' THEN
        {children}
        IF omd_facts._deletes_physically({interface_id}) THEN
            {remove}
            {remove_anchor}
            IF v_is_controlled THEN
                PERFORM omd_facts._run_controls({entity_id}, TG_OP, 'AFTER', to_jsonb(OLD), NULL);
            END IF;
            RETURN OLD;
        END IF;
        {delete}
        {delete_anchor}
        IF v_is_controlled THEN
            PERFORM omd_facts._run_controls({entity_id}, TG_OP, 'AFTER', to_jsonb(OLD), NULL);
        END IF;
        RETURN OLD;
    END IF;
    {checks}
    {make_anchor}
    {self_links}
    {write}
    v_row.acm_id := v_id;
    v_row.acm_end_dt := {open};
    {row_links}
    {write_anchor}
    IF v_is_controlled THEN
        PERFORM omd_facts._run_controls(
            {entity_id}, TG_OP, 'AFTER', CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END,
            to_jsonb(v_row)
        );
    END IF;
    RETURN v_row;
END
$write$$sql$;
BEGIN
    SELECT
        e.*,
        i.interface_code,
        'cfl_' || i.interface_code AS cfl,
        c.context_id AS existence_id,
        format('%I.%I', 'cfl_' || i.interface_code, c.context_table || '_now') AS existence,
        format('%I.%I', 'cfl_' || i.interface_code, c.context_table) AS properties
    INTO v_entity
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    INNER JOIN omd_facts.context AS c
        ON e.entity_id = c.entity_id
            AND (e.entity_kind = 'CONTEXT' OR c.context_code = 'properties')
    WHERE e.entity_id = p_entity_id;
    v_keys := omd_facts._anchor_columns(p_entity_id);
    SELECT
        string_agg(b.block ->> 'declare', E'\n    ' ORDER BY c.context_id) AS declare_sql,
        string_agg(
            b.block ->> 'check', E'\n' ORDER BY c.context_kind <> 'immutable', c.context_id
        ) AS check_sql,
        string_agg(b.block ->> 'write', E'\n' ORDER BY c.context_id) AS write_sql,
        string_agg(b.block ->> 'delete', E'\n' ORDER BY c.context_id) AS delete_sql,
        string_agg(b.block ->> 'remove', E'\n' ORDER BY c.context_id) || coalesce(
            (
                SELECT string_agg(
                    omd_facts._writer_blocks(o.context_id) ->> 'remove_all', E'\n'
                    ORDER BY o.context_id
                )
                FROM omd_facts.entity AS k
                INNER JOIN omd_facts.context AS o USING (entity_id)
                WHERE k.anchor_entity_id = p_entity_id AND k.entity_id <> p_entity_id
            ),
            ''
        ) AS remove_sql
    INTO v_blocks
    FROM omd_facts.context AS c
    CROSS JOIN LATERAL (SELECT omd_facts._writer_blocks(c.context_id) AS block) AS b
    WHERE c.entity_id = p_entity_id;
    SELECT
        coalesce(
            string_agg(
                format('%I bigint;', 'v_fk_' || l.relationship_code), E'\n    '
                ORDER BY l.relationship_code
            ),
            ''
        ) AS declare_sql,
        coalesce(
            string_agg(
                omd_facts._fill(
                    CASE WHEN l.is_owner THEN '' ELSE $sql$
    IF TG_OP <> 'DELETE' AND num_nulls({columns}) = 0{not_self} THEN
        SELECT p.acm_id, p.acm_exists_ind INTO v_parent FROM {parent} AS p WHERE {match};
        IF NOT FOUND OR (
            v_parent.acm_exists_ind = 0 AND (TG_OP = 'INSERT'
                OR ({columns}) IS DISTINCT FROM ({old_columns}))
        ) THEN
            {missing}
        END IF;
        {variable} := v_parent.acm_id;
    END IF;$sql$ END,
                    jsonb_build_object(
                        'columns', l.columns,
                        'not_self', coalesce(' AND NOT ' || l.is_self, ''),
                        'old_columns', l.old_columns,
                        'parent', l.parent,
                        'match', l.match,
                        'variable', quote_ident('v_fk_' || l.relationship_code),
                        'missing', CASE
                            WHEN l.is_supertype
                                THEN format(
                                    'UPDATE omd_facts.interface AS i SET made_entity_id = %s'
                                    ' WHERE i.interface_id = {interface_id};'
                                    ' INSERT INTO %I.%I (%s) VALUES (%s);'
                                    ' UPDATE omd_facts.interface AS i SET made_entity_id = NULL'
                                    ' WHERE i.interface_id = {interface_id};'
                                    ' SELECT p.acm_id, p.acm_exists_ind INTO v_parent'
                                    ' FROM %s AS p WHERE %s;',
                                    v_entity.supertype_id,
                                    'gdal_' || v_entity.interface_code, l.parent_code, l.parent_keys,
                                    l.columns, l.parent, l.match
                                )
                            ELSE format(
                                $sql$PERFORM omd.raise_error(
                'OM054', jsonb_build_object('entity_code', %L, 'key', v_key, 'relationship', %L)
            );$sql$,
                                v_entity.entity_code, l.relationship_code
                            )
                        END
                    )
                ),
                E'\n' ORDER BY l.relationship_code
            ),
            ''
        ) AS checks,
        string_agg(
            format(
                'v_row.%I := %I;', 'acm_fk_' || l.relationship_code, 'v_fk_' || l.relationship_code
            ),
            ' ' ORDER BY l.relationship_code
        ) FILTER (WHERE NOT l.is_owner) AS row_links,
        -- A row may be its own parent.
        coalesce(
            string_agg(
                format(
                    'IF %s THEN %I := v_id; END IF;', l.is_self, 'v_fk_' || l.relationship_code
                ),
                E'\n    ' ORDER BY l.relationship_code
            ) FILTER (WHERE l.is_self IS NOT NULL),
            ''
        ) AS self_links
    INTO v_links
    FROM (
        SELECT
            l.relationship_code,
            l.context_id,
            p.entity_code AS parent_code,
            p.entity_id = v_entity.supertype_id AS is_supertype,
            l.context_id IS NULL AND v_entity.entity_kind = 'CONTEXT' AS is_owner,
            format('%I.%I', v_entity.cfl, p.anchor_table) AS parent,
            (SELECT string_agg(format('v_row.%I', c.code), ', ' ORDER BY c.n)
                FROM unnest(l.child_columns) WITH ORDINALITY AS c (code, n)) AS columns,
            (SELECT string_agg(format('OLD.%I', c.code), ', ' ORDER BY c.n)
                FROM unnest(l.child_columns) WITH ORDINALITY AS c (code, n)) AS old_columns,
            CASE
                WHEN l.parent_entity_id = p_entity_id
                    THEN '(' || (
                        SELECT string_agg(
                            format('v_row.%I IS NOT DISTINCT FROM v_row.%I', c.code, v_keys[c.n]),
                            ' AND ' ORDER BY c.n
                        )
                        FROM unnest(l.child_columns) WITH ORDINALITY AS c (code, n)
                    ) || ')'
            END AS is_self,
            k.parent_keys,
            k.match
        FROM omd_facts.link AS l
        INNER JOIN omd_facts.entity AS p ON l.parent_entity_id = p.entity_id
        CROSS JOIN LATERAL (
            SELECT
                string_agg(quote_ident(a.attribute_code), ', ' ORDER BY a.key_position)
                AS parent_keys,
                string_agg(
                    format('p.%I = v_row.%I', a.attribute_code, l.child_columns[a.key_position]),
                    ' AND ' ORDER BY a.key_position
                ) AS match
            FROM omd_facts.attribute AS a
            WHERE a.entity_id = p.entity_id AND a.key_position IS NOT NULL
        ) AS k
        WHERE l.entity_id = p_entity_id
    ) AS l;
    v_pieces := omd_facts._key_pieces(v_entity.anchor_entity_id, v_keys);
    SELECT
        v_pieces || jsonb_build_object(
            'function', format('%I.%I', v_entity.cfl, '_write_' || v_entity.entity_code),
            'view', format('%I.%I', 'gdal_' || v_entity.interface_code, v_entity.entity_code),
            'entity', quote_literal(v_entity.entity_code),
            'entity_id', p_entity_id,
            'interface_id', v_entity.interface_id,
            'existence', v_entity.existence,
            'properties', v_entity.properties,
            'open', quote_literal(omd_facts._open_end()) || '::timestamptz',
            'declare', v_blocks.declare_sql || E'\n    ' || v_links.declare_sql,
            'key_pairs', string_agg(
                format('%L, v_row.%I', a.attribute_code, a.attribute_code), ', '
                ORDER BY a.key_position
            ) FILTER (WHERE a.key_position IS NOT NULL),
            'n_keys', string_agg(format('NEW.%I', a.attribute_code), ', ' ORDER BY a.key_position)
            FILTER (WHERE a.key_position IS NOT NULL),
            'o_keys', string_agg(format('OLD.%I', a.attribute_code), ', ' ORDER BY a.key_position)
            FILTER (WHERE a.key_position IS NOT NULL),
            'null_cases', string_agg(
                format(
                    'WHEN v_row.%I IS NULL%s THEN %L', a.attribute_code,
                    CASE WHEN a.key_position IS NULL THEN ' AND NOT v_is_made' ELSE '' END,
                    a.attribute_code
                ),
                ' ' ORDER BY a.key_position, a.ordinal
            ) FILTER (WHERE a.key_position IS NOT NULL OR a.is_mandatory),
            'odd', (
                SELECT
                    coalesce(
                        string_agg(
                            format(
                                $sql$
        IF %1$s AND v_row.%2$I IS DISTINCT FROM OLD.%2$I THEN
            PERFORM omd.raise_error(
                'OM061', jsonb_build_object(
                    'entity_code', {entity}, 'key', v_key, 'attribute', %2$L,
                    'value', left(v_row.%2$I::text, 100), 'problem', %3$L
                )
            );
        END IF;$sql$,
                                o.condition, o.attribute_code, o.problem
                            ),
                            '' ORDER BY o.ordinal
                        ),
                        ''
                    )
                FROM (
                    SELECT
                        k.ordinal,
                        k.attribute_code,
                        omd_facts._odd_value_sql(k.data_type, format('v_row.%I', k.attribute_code))
                        AS condition,
                        CASE
                            WHEN k.data_type LIKE 'numeric%' OR k.data_type = 'double precision'
                                THEN 'it is no number'
                            ELSE 'it is outside of the years 0001 to 9999'
                        END AS problem
                    FROM omd_facts.attribute AS k
                    WHERE k.entity_id = p_entity_id
                    UNION ALL
                    -- What a unique index is over must fit into it, whole.
                    SELECT
                        k.ordinal,
                        k.attribute_code,
                        CASE
                            WHEN k.total > 2600
                                THEN format(
                                    'octet_length(v_row.%I) > %s', k.attribute_code,
                                    2600 / k.number
                                )
                        END,
                        format('it has more than %s bytes', 2600 / k.number)
                    FROM (
                        SELECT
                            k.ordinal,
                            k.attribute_code,
                            sum(omd_facts._text_bytes(k.data_type)) OVER w AS total,
                            count(*) OVER w AS number,
                            omd_facts._text_bytes(k.data_type) > 24 AS is_text
                        FROM omd_facts.attribute AS k
                        LEFT JOIN omd_facts.context AS c USING (context_id)
                        WHERE k.entity_id = p_entity_id
                            AND (k.key_position IS NOT NULL OR c.context_kind = 'alternate_key')
                        WINDOW w AS (PARTITION BY k.context_id)
                    ) AS k
                    WHERE k.is_text
                ) AS o
                WHERE o.condition IS NOT NULL
            ),
            'a_match', (
                SELECT string_agg(
                    format('a.%I = v_row.%I', k.attribute_code, v_keys[k.key_position]), ' AND '
                    ORDER BY k.key_position
                )
                FROM omd_facts.attribute AS k
                WHERE k.entity_id = v_entity.anchor_entity_id AND k.key_position IS NOT NULL
            ),
            'own_match', coalesce(
                string_agg(
                    format(' AND o.%1$I = v_row.%1$I', a.attribute_code), '' ORDER BY a.key_position
                ) FILTER (WHERE a.key_position IS NOT NULL AND a.context_id IS NOT NULL),
                ''
            ),
            'parents', v_links.checks,
            'checks', coalesce(v_blocks.check_sql, ''),
            'write', v_blocks.write_sql,
            'delete', v_blocks.delete_sql,
            'remove', v_blocks.remove_sql,
            'row_links', v_links.row_links,
            'self_links', v_links.self_links,
            'table', quote_literal(v_entity.cfl || '.' || v_entity.anchor_table)
        )
    INTO v_pieces
    FROM omd_facts.attribute AS a
    WHERE a.entity_id = p_entity_id;
    SELECT
        v_pieces || jsonb_build_object(
            'n_system', string_agg(format('NEW.%I', i.name), ', ' ORDER BY i.place, i.name),
            'o_system', string_agg(format('OLD.%I', i.name), ', ' ORDER BY i.place, i.name)
        )
    INTO v_pieces
    FROM omd_facts._view_items(p_entity_id) AS i
    WHERE i.name LIKE 'acm\_%';
    v_pieces := v_pieces || CASE v_entity.entity_kind
        WHEN 'CONTEXT' THEN jsonb_build_object(
            'state_checks', omd_facts._fill(
                $sql$
    SELECT o.acm_record_ind, o.acm_start_dt INTO v_former, v_start FROM {existence} AS o
    WHERE o.acm_id = v_id{own_match};
    IF TG_OP = 'INSERT' AND v_former <> 'R' THEN
        PERFORM omd.raise_error(
                'OM051', jsonb_build_object('entity_code', {entity}, 'key', v_key)
            );
    ELSIF TG_OP <> 'INSERT' AND v_start IS DISTINCT FROM OLD.acm_start_dt
        AND v_start IS DISTINCT FROM v_at
    THEN
        PERFORM omd.raise_error(
                'OM157', jsonb_build_object('entity_code', {entity}, 'key', v_key)
            );
    END IF;
    IF TG_OP <> 'DELETE' AND coalesce(v_anchor.acm_exists_ind, 0) = 0 THEN
        PERFORM omd.raise_error(
                'OM054', jsonb_build_object('entity_code', {entity}, 'key', v_key, 'relationship', 'context_of')
            );
    END IF;$sql$, v_pieces
            ),
            'children', '',
            'remove_anchor', '',
            'make_anchor', '',
            'delete_anchor', omd_facts._fill(
                'UPDATE {anchor} AS a SET acm_latest_start_dt = v_at WHERE a.acm_id = v_id;', v_pieces
            ),
            'write_anchor', omd_facts._fill(
                $sql$IF v_wrote THEN
        UPDATE {anchor} AS a SET acm_latest_start_dt = v_at WHERE a.acm_id = v_id
        RETURNING a.acm_exists_ind, a.acm_latest_start_dt, a.acm_last_created_dt
        INTO v_row.acm_exists_ind, v_row.acm_latest_start_dt, v_row.acm_last_created_dt;
    END IF;$sql$, v_pieces
            )
        )
        ELSE jsonb_build_object(
            'state_checks', omd_facts._fill(
                $sql$
    IF TG_OP = 'INSERT' AND v_anchor.acm_exists_ind = 1 THEN
        PERFORM omd.raise_error(
                'OM051', jsonb_build_object('entity_code', {entity}, 'key', v_key)
            );
    ELSIF TG_OP <> 'INSERT'
        AND (v_anchor.acm_latest_start_dt, v_anchor.acm_exists_ind)
        IS DISTINCT FROM (OLD.acm_latest_start_dt, 1::smallint)
        AND (v_anchor.acm_latest_start_dt, v_anchor.acm_exists_ind)
        IS DISTINCT FROM (v_at, 1::smallint)
    THEN
        PERFORM omd.raise_error(
                'OM157', jsonb_build_object('entity_code', {entity}, 'key', v_key)
            );
    END IF;$sql$, v_pieces
            ),
            'children', omd_facts._children_sql(p_entity_id),
            'remove_anchor', omd_facts._fill(
                $sql$UPDATE {anchor} AS a SET acm_exists_ind = 0, acm_physically_removed_ind = 1,
                acm_physically_removed_by = v_audit_id WHERE a.acm_id = v_id;
            PERFORM omd_facts._log_removal({interface_id}, {entity_id}, 'ANCHOR', {table}, 1);$sql$,
                v_pieces
            ),
            'delete_anchor', omd_facts._fill(
                $sql$UPDATE {anchor} AS a SET acm_exists_ind = 0, acm_latest_start_dt = v_at,
            acm_last_created_dt = CASE a.acm_last_created_dt
                WHEN v_at THEN (SELECT max(o.acm_start_dt) FROM {properties} AS o
                    WHERE o.acm_id = v_id AND o.acm_record_ind = 'N')
                ELSE a.acm_last_created_dt END
        WHERE a.acm_id = v_id;$sql$, v_pieces
            ),
            'make_anchor', omd_facts._fill(
                replace(
                    replace(
                        $sql$IF v_id IS NULL THEN
        {make_root}
        INSERT INTO {anchor} AS a ({id}{keys}{links}, acm_audit_id, acm_entity_id, acm_exists_ind,
            acm_physically_removed_ind)
        SELECT {id_value}{d_keys}{link_values}, v_audit_id, {entity_id}, 0, 0
        FROM (SELECT v_row.*) AS d{link_joins}
        RETURNING a.acm_id INTO v_id;
        {make_member}
    END IF;$sql$,
                        '{make_root}',
                        CASE WHEN v_pieces ? 'root' THEN
                            'INSERT INTO {root} ({root_keys}) SELECT {d_keys}'
                            ' FROM (SELECT v_row.*) AS d ON CONFLICT DO NOTHING;'
                        ELSE '' END
                    ),
                    '{make_member}',
                    CASE WHEN v_pieces ? 'members' THEN
                        'INSERT INTO {members} (member_entity_id, member_id)'
                        ' VALUES ({entity_id}, v_id);'
                    ELSE '' END
                ),
                v_pieces
            ),
            'write_anchor', omd_facts._fill(
                $sql$IF v_wrote OR TG_OP = 'INSERT' THEN
        UPDATE {anchor} AS a SET acm_exists_ind = 1, acm_latest_start_dt = v_at,
            acm_last_created_dt = CASE
                WHEN a.acm_exists_ind = 0 AND v_row.acm_record_ind = 'N' THEN v_at
                ELSE a.acm_last_created_dt END,
            acm_physically_removed_ind = 0, acm_physically_removed_by = NULL
        WHERE a.acm_id = v_id
        RETURNING a.acm_exists_ind, a.acm_latest_start_dt, a.acm_last_created_dt
        INTO v_row.acm_exists_ind, v_row.acm_latest_start_dt, v_row.acm_last_created_dt;
    END IF;$sql$, v_pieces
            )
        )
    END;
    RETURN omd_facts._fill(omd_facts._fill(v_template, v_pieces), v_pieces);
END
$writer_sql$;

COMMENT ON FUNCTION omd_facts._writer_sql IS
'Returns the function by which the current view of the entity p_entity_id is written. Locks: '
'none.';
REVOKE ALL ON FUNCTION omd_facts._writer_sql FROM PUBLIC;
