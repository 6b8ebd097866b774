-- A document is checked before anybody knows that its lists are lists.

CREATE OR REPLACE FUNCTION omd.json_items(
    p_list jsonb
)
RETURNS TABLE (
    item jsonb,
    ordinal bigint
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        i.item,
        i.ordinal
    FROM
        jsonb_array_elements(
            CASE WHEN jsonb_typeof(p_list) = 'array' THEN p_list ELSE '[]' END
        ) WITH ORDINALITY AS i (item, ordinal);
END;

COMMENT ON FUNCTION omd.json_items IS
'For rooms: Returns the items of the list p_list and their places, from 1; none when it is no list.'
' Locks: none.';
GRANT EXECUTE ON FUNCTION omd.json_items TO omd_reader, omd_runner;
