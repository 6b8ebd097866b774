-- The pieces of _change_statements and of the view of changes that others do not need.

CREATE OR REPLACE FUNCTION omd_facts._change_pieces(
    p_entity_id integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $change_pieces$
BEGIN
    RETURN (
        SELECT
            omd_facts._context_pieces(x.context_id) || jsonb_build_object(
                'noted_id', p_entity_id,
                'anchor', format('%I.%I', n.cfl, e.anchor_table),
                'own_json', 'jsonb_build_object(' || coalesce(
                    string_agg(
                        format('%L, o.%I', a.attribute_code, a.attribute_code), ', '
                        ORDER BY a.key_position
                    ) FILTER (WHERE a.attribute_code IS NOT NULL),
                    ''
                ) || ')'
            )
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        CROSS JOIN LATERAL (SELECT 'cfl_' || i.interface_code AS cfl) AS n
        INNER JOIN omd_facts.context AS x
            ON e.entity_id = x.entity_id
                AND (e.entity_kind = 'CONTEXT' OR x.context_code = 'properties')
        LEFT JOIN omd_facts.attribute AS a
            ON x.context_id = a.context_id AND a.key_position IS NOT NULL
        WHERE e.entity_id = p_entity_id
        GROUP BY x.context_id, n.cfl, e.anchor_table
    );
END
$change_pieces$;

COMMENT ON FUNCTION omd_facts._change_pieces IS
'Returns the pieces of SQL about the context of the entity p_entity_id that says whether a row '
'exists. Locks: none.';
