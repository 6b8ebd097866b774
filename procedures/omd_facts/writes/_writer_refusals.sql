-- What no delivery brings, and what does not fit into an index, is refused by value. The
-- conditions depend on the types of the attributes alone.

CREATE OR REPLACE FUNCTION omd_facts._writer_refusals(
    p_entity_id integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $writer_refusals$
DECLARE
    -- An entry of a B-tree has 2704 bytes at most, its header among them.
    v_most CONSTANT bigint := 2600::bigint;
BEGIN
    RETURN (
        SELECT
            jsonb_agg(
                jsonb_build_object(
                    'column', quote_ident(o.attribute_code),
                    'attribute', quote_literal(o.attribute_code),
                    'condition', o.condition,
                    'problem', quote_literal(o.problem)
                )
                ORDER BY o.ordinal
            )
        FROM (
            SELECT
                k.ordinal,
                k.attribute_code,
                omd_facts._odd_value_sql(k.data_type, format('v_row.%I', k.attribute_code))
                    AS condition,
                CASE
                    WHEN k.data_type LIKE 'numeric%' OR k.data_type = 'double precision'
                        THEN 'it is no number'
                    ELSE 'it is outside of the years 0001 to 9999'
                END AS problem
            FROM omd_facts.attribute AS k
            WHERE k.entity_id = p_entity_id
            UNION ALL
            -- What a unique index is over must fit into it, whole: each text has its share.
            SELECT
                k.ordinal,
                k.attribute_code,
                format('octet_length(v_row.%I) > %s', k.attribute_code, v_most / k.number),
                format('it has more than %s bytes', v_most / k.number)
            FROM (
                SELECT
                    k.ordinal,
                    k.attribute_code,
                    sum(omd_facts._text_bytes(k.data_type)) OVER w AS total,
                    count(*) OVER w AS number,
                    omd_facts._text_bytes(k.data_type) > 24 AS is_text
                FROM omd_facts.attribute AS k
                LEFT JOIN omd_facts.context AS c USING (context_id)
                WHERE k.entity_id = p_entity_id
                    AND (k.key_position IS NOT NULL OR c.context_kind = 'alternate_key')
                WINDOW w AS (PARTITION BY k.context_id)
            ) AS k
            WHERE k.is_text AND k.total > v_most
        ) AS o
        WHERE o.condition IS NOT NULL
    );
END
$writer_refusals$;

COMMENT ON FUNCTION omd_facts._writer_refusals IS
'Returns which values the function of the view of the entity p_entity_id refuses, and why. Locks: '
'none.';
