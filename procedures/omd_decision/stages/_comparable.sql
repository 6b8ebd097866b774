-- Links and outputs are compared by name. Their order counts too: the first link is the primary
-- one.

CREATE OR REPLACE FUNCTION omd_decision._comparable(
    p_definition jsonb
)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        p_definition - 'stage' - 'links' - 'outputs'
        || coalesce(jsonb_object_agg(l.list, l.items), '{}')
    FROM (
        SELECT
            d.key AS list,
            jsonb_build_object('', jsonb_agg(i.item -> 'name' ORDER BY i.ordinal))
            || jsonb_object_agg(i.item ->> 'name', i.item - 'name') AS items
        FROM jsonb_each(p_definition) AS d
        CROSS JOIN LATERAL omd.json_items(d.value) AS i
        WHERE d.key IN ('links', 'outputs')
        GROUP BY d.key
    ) AS l;
END;

COMMENT ON FUNCTION omd_decision._comparable IS
'Returns the definition of a stage as an object of objects: links and outputs under their names, '
'and the list of these names under an empty one. Locks: none.';
