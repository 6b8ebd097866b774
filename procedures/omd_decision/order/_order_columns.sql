-- The wave comes before the keys, and takes the same sort key. All links have the types of the
-- first one, or others of their families.

CREATE OR REPLACE FUNCTION omd_decision._order_columns(
    p_definition jsonb
)
RETURNS TABLE (
    place integer,
    alias text,
    column_name text,
    family text,
    direction text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        o.place,
        o.alias,
        o.column_name,
        c.family,
        o.direction
    FROM (
        SELECT
            0 AS place,
            'w' AS alias,
            p_definition ->> 'wave' AS column_name,
            'ASC' AS direction
        WHERE p_definition ? 'wave'
        UNION ALL
        SELECT
            k.ordinal::integer AS place,
            'k' || k.ordinal AS alias,
            k.item ->> 'column' AS column_name,
            k.item ->> 'direction' AS direction
        FROM omd.json_items(p_definition -> 'keys') AS k
    ) AS o
    INNER JOIN omd_decision._columns(p_definition #>> '{links,0,source}') AS c
        ON o.column_name = c.column_name;
END;

COMMENT ON FUNCTION omd_decision._order_columns IS
'Returns the columns that order the records of the stage document p_definition: the wave (w) and '
'the keys (k1, …), with their families. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._order_columns TO omd_reader, omd_runner;
