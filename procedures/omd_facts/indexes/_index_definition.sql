-- A B-tree takes 2704 bytes, and a text may have more. One attribute of any length is indexed by
-- its hash, which serves equality of any query as it is; of several, the long ones by their
-- beginnings.

CREATE OR REPLACE FUNCTION omd_facts._index_definition(
    p_context_id integer,
    p_attributes jsonb
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $index_definition$
BEGIN
    RETURN (
        SELECT
            CASE
                WHEN sum(t.bytes) <= 2600
                    THEN format('(%s)', string_agg(t.name, ', ' ORDER BY t.n))
                WHEN count(*) = 1 THEN format('USING hash (%s)', min(t.name))
                ELSE
                    format(
                        '(%s)',
                        string_agg(
                            CASE
                                WHEN t.bytes > 100 THEN format('left(%s, %s)', t.name, t.length)
                                ELSE t.name
                            END,
                            ', ' ORDER BY t.n
                        )
                    )
            END
        FROM (
            SELECT
                c.n,
                quote_ident(c.code) AS name,
                omd_facts._text_bytes(a.data_type) AS bytes,
                500 / count(*) OVER () AS length
            FROM jsonb_array_elements_text(p_attributes) WITH ORDINALITY AS c (code, n)
            INNER JOIN omd_facts.attribute AS a
                ON a.context_id = p_context_id AND c.code = a.attribute_code
        ) AS t
    );
END
$index_definition$;

COMMENT ON FUNCTION omd_facts._index_definition IS
'Returns what an index of p_attributes of the context p_context_id is over. Locks: none.';
