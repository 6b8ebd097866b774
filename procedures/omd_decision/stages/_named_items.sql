-- Links, outputs, keys and test cases are known by their names; an item without one by its
-- place.

CREATE OR REPLACE FUNCTION omd_decision._named_items(
    p_list jsonb,
    p_path text,
    p_name text
)
RETURNS TABLE (
    item jsonb,
    ordinal bigint,
    name text,
    path text
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        i.item,
        i.ordinal,
        n.name,
        coalesce(p_path || '.' || n.name, format('%s[%s]', p_path, i.ordinal - 1)) AS path
    FROM omd.json_items(p_list) AS i
    CROSS JOIN LATERAL (
        SELECT CASE WHEN jsonb_typeof(i.item -> p_name) = 'string' THEN i.item ->> p_name END
    ) AS n (name);
END;

COMMENT ON FUNCTION omd_decision._named_items IS
'Returns the items of the list p_list, each with its name, the text of its property p_name, and '
'its path below p_path. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._named_items TO omd_reader, omd_runner;
