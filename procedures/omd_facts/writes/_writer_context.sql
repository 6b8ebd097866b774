-- The tables and columns of one context, as the template of _writer_sql names them.

CREATE OR REPLACE FUNCTION omd_facts._writer_context(
    p_context_id integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $writer_context$
BEGIN
    RETURN (
        SELECT
            jsonb_build_object(
                -- The variable that holds the open row.
                'open', quote_ident('o_' || c.context_code),
                'context_entity_id', c.entity_id,
                'context_code', quote_literal(c.context_code),
                'context_name', quote_literal(n.cfl || '.' || c.context_table),
                'context', format('%I.%I', n.cfl, c.context_table),
                'now', format('%I.%I', n.cfl, c.context_table || '_now'),
                'past', format('%I.%I', n.cfl, c.context_table || '_past'),
                'is_immutable', c.context_kind = 'immutable',
                -- With its key goes what it says, but for what is said only once.
                'is_deletable', c.context_kind <> 'immutable',
                'is_alternate_key', c.context_kind = 'alternate_key',
                -- Where all of its attributes are NULL it has no row.
                'is_optional', c.context_kind IN ('immutable', 'alternate_key'),
                -- Its row says whether the row of the view exists.
                'is_existence', e.entity_kind = 'CONTEXT' OR c.context_code = 'properties',
                'own_keys', a.own_keys,
                'attributes', a.attributes,
                -- What is immutable was compared before, and refused.
                'compared', CASE c.context_kind WHEN 'immutable' THEN '[]' ELSE a.attributes END,
                'links', (
                    SELECT jsonb_agg(
                        jsonb_build_object(
                            'link', quote_ident('acm_fk_' || l.relationship_code),
                            'parent_id', quote_ident('v_fk_' || l.relationship_code)
                        )
                        ORDER BY l.relationship_code
                    )
                    FROM omd_facts.link AS l
                    WHERE l.context_id = p_context_id
                )
            )
        FROM omd_facts.context AS c
        INNER JOIN omd_facts.entity AS e USING (entity_id)
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        CROSS JOIN LATERAL (SELECT 'cfl_' || i.interface_code AS cfl) AS n
        CROSS JOIN LATERAL (
            SELECT
                jsonb_agg(k.item ORDER BY k.key_position) FILTER (
                    WHERE k.key_position IS NOT NULL
                ) AS own_keys,
                jsonb_agg(k.item ORDER BY k.ordinal) FILTER (WHERE k.key_position IS NULL)
                    AS attributes
            FROM (
                SELECT
                    k.ordinal,
                    k.key_position,
                    jsonb_build_object('column', quote_ident(k.attribute_code)) AS item
                FROM omd_facts.attribute AS k
                WHERE k.context_id = p_context_id
            ) AS k
        ) AS a
        WHERE c.context_id = p_context_id
    );
END
$writer_context$;

COMMENT ON FUNCTION omd_facts._writer_context IS
'Returns what the function of a view must know of the context p_context_id. Locks: none.';
