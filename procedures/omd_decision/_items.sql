-- A document is checked before anybody knows that its lists are lists of objects.

CREATE OR REPLACE FUNCTION omd_decision._items(
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

COMMENT ON FUNCTION omd_decision._items IS
'Returns the items of the list p_list and their places, from 1; none when it is no list. Locks: '
'none.';
REVOKE ALL ON FUNCTION omd_decision._items FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_decision._items TO omd_reader, omd_runner;
