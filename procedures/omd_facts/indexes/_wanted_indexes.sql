-- A table that is filled for the first time is indexed after its rows, which takes less time.
-- Closed rows come later, so their indexes are made with the table. Their key has both ends: so of
-- a key as of a moment only the row that is wanted is fetched. Links are indexed only where
-- somebody writes through views: who deletes a parent looks for its children. Their names begin as
-- that of no table does, since an entity may be called like another one and a suffix.

CREATE OR REPLACE FUNCTION omd_facts._wanted_indexes(
    p_interface_id integer
)
RETURNS TABLE (schema_name text, table_name text, index_name text, statement text)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $wanted_indexes$
BEGIN
    RETURN QUERY
    WITH interface AS (
        SELECT i.interface_code, 'cfl_' || i.interface_code AS schema_name
        FROM omd_facts.interface AS i
        WHERE i.interface_id = p_interface_id
    ),

    keys AS (
        SELECT
            a.entity_id,
            a.context_id,
            string_agg(quote_ident(a.attribute_code), ', ' ORDER BY a.key_position) AS codes
        FROM omd_facts.attribute AS a
        WHERE a.key_position IS NOT NULL
        GROUP BY a.entity_id, a.context_id
    ),

    wanted AS (
        SELECT e.anchor_table AS relation, 'i' || e.anchor_table || '_id' AS name, TRUE AS is_unique,
            '(acm_id)' AS definition
        FROM omd_facts.entity AS e
        WHERE e.interface_id = p_interface_id AND e.entity_kind <> 'CONTEXT'
        UNION ALL
        SELECT e.anchor_table, 'i' || e.anchor_table || '_key', TRUE, format('(%s)', k.codes)
        FROM omd_facts.entity AS e
        INNER JOIN keys AS k ON e.entity_id = k.entity_id AND k.context_id IS NULL
        WHERE e.interface_id = p_interface_id AND e.entity_kind <> 'CONTEXT'
        UNION ALL
        SELECT c.context_table || w.suffix, 'i' || c.context_table || w.name, w.is_unique,
            replace(w.definition, '{own}', coalesce(', ' || k.codes, ''))
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.context AS c USING (entity_id)
        LEFT JOIN keys AS k ON c.context_id = k.context_id
        CROSS JOIN (
            VALUES
            ('_now', '_id', TRUE, '(acm_id{own})'),
            ('_past', '_pid', TRUE, '(acm_id{own}, acm_start_dt, acm_end_dt)'),
            ('_past', '_end', FALSE, 'USING brin (acm_end_dt) WITH (autosummarize = on)')
        ) AS w (suffix, name, is_unique, definition)
        WHERE e.interface_id = p_interface_id
        UNION ALL
        SELECT
            c.context_table || '_now', 'i' || c.context_table || '_ak', TRUE,
            format(
                '(%s) WHERE acm_record_ind <> ''R''',
                string_agg(quote_ident(a.attribute_code), ', ' ORDER BY a.ordinal)
            )
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.context AS c USING (entity_id)
        INNER JOIN omd_facts.attribute AS a USING (context_id)
        WHERE e.interface_id = p_interface_id AND c.context_kind = 'alternate_key'
        GROUP BY c.context_table
        UNION ALL
        SELECT
            c.context_table || '_now',
            'i' || left(c.context_table, 49) || '_' || left(
                md5(
                    c.context_table || i.item::text
                    || CASE WHEN d.definition LIKE ANY('{USING%,%left(%}') THEN d.definition ELSE '' END
                ),
                8
            ),
            FALSE,
            d.definition
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.context AS c USING (entity_id)
        CROSS JOIN jsonb_array_elements(c.indexes) AS i (item)
        CROSS JOIN LATERAL (
            SELECT omd_facts._index_definition(c.context_id, i.item) AS definition
        ) AS d
        WHERE e.interface_id = p_interface_id
        UNION ALL
        SELECT
            l.relation,
            'i' || left(l.relation, 49) || '_' || left(md5(l.relation || l.link_column), 8),
            FALSE,
            format('(%I)', l.link_column)
        FROM (
            SELECT
                coalesce(c.context_table || '_now', e.anchor_table) AS relation,
                'acm_fk_' || l.relationship_code AS link_column
            FROM omd_facts.entity AS e
            INNER JOIN omd_facts.link AS l USING (entity_id)
            LEFT JOIN omd_facts.context AS c ON l.context_id = c.context_id
            WHERE e.interface_id = p_interface_id
                AND (e.entity_kind <> 'CONTEXT' OR l.context_id IS NOT NULL)
                AND EXISTS (
                    SELECT FROM omd_facts.interface AS i
                    WHERE i.interface_id = p_interface_id AND i.is_indexed
                )
        ) AS l
    )

    SELECT
        i.schema_name,
        w.relation,
        w.name,
        format(
            'CREATE %sINDEX %I ON %I.%I %s',
            CASE WHEN w.is_unique THEN 'UNIQUE ' ELSE '' END,
            w.name, i.schema_name, w.relation, w.definition
        )
    FROM wanted AS w
    CROSS JOIN interface AS i
    ORDER BY w.relation, w.name;
END
$wanted_indexes$;

COMMENT ON FUNCTION omd_facts._wanted_indexes IS
'Returns the indexes of the tables of the interface p_interface_id. Locks: none.';
