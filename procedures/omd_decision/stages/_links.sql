-- A link keeps its place in the document, so its number is that of the document also where
-- buffer links are left out.

CREATE OR REPLACE FUNCTION omd_decision._links(
    p_definition jsonb
)
RETURNS TABLE (
    number integer,
    name text,
    parameter text,
    source text,
    arrival text,
    is_array boolean,
    is_buffer boolean
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        l.ordinal::integer AS number,
        l.item ->> 'name' AS name,
        l.item ->> 'parameter' AS parameter,
        l.item ->> 'source' AS source,
        l.item ->> 'arrival' AS arrival,
        (l.item ->> 'array')::boolean AS is_array,
        (l.item ->> 'buffer')::boolean AS is_buffer
    FROM omd.json_items(p_definition -> 'links') AS l;
END;

COMMENT ON FUNCTION omd_decision._links IS
'Returns the links of the stage document p_definition. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._links TO omd_reader, omd_runner;
