-- As _text, for a list.

CREATE OR REPLACE FUNCTION omd_delivery._items(
    p_list jsonb
)
RETURNS TABLE (
    item jsonb,
    n integer
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        i.item,
        i.n::integer
    FROM
        jsonb_array_elements(
            CASE WHEN jsonb_typeof(p_list) = 'array' THEN p_list ELSE '[]' END
        ) WITH ORDINALITY AS i (item, n);
END;

COMMENT ON FUNCTION omd_delivery._items IS
'Returns the items of the JSON list p_list with their places from 1; none when it is no list. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd_delivery._items FROM PUBLIC;
