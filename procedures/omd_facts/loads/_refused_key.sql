-- A constraint tells values and no key, so the row is looked for: after a failure only. Of an
-- alternate key it is the first row of the delta whose values are there twice in what the load
-- would leave; of a value that is too long for an index the longest one.

CREATE OR REPLACE FUNCTION omd_facts._refused_key(
    p_entity_id integer,
    p_context_id integer,
    p_delivery_id bigint,
    p_is_too_long boolean
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $refused_key$
DECLARE
    v_kind text;
    v_pieces jsonb;
    v_statement text;
    v_key jsonb;
    v_twice CONSTANT text := $sql$
SELECT f.key
FROM (
    SELECT t.key, t.is_delta, count(*) OVER (PARTITION BY {values}) AS n
    FROM (
        SELECT jsonb_build_object({d_pairs}) AS key, TRUE AS is_delta, {d_values}
        FROM {delta} AS d
        WHERE d.delivery_id = $1 AND d.acm_record_ind <> 'R' AND num_nulls({d_values}) = 0
        UNION ALL
        SELECT NULL, FALSE, {o_values}
        FROM {now} AS o
        INNER JOIN {anchor} AS a ON o.acm_id = a.acm_id
        WHERE o.acm_record_ind <> 'R' AND num_nulls({o_values}) = 0
            AND NOT EXISTS (SELECT FROM {delta} AS d WHERE d.delivery_id = $1 AND {d_match})
    ) AS t
) AS f
WHERE f.n > 1 AND f.is_delta
ORDER BY f.key
LIMIT 1$sql$;
    v_longest CONSTANT text := $sql$
SELECT jsonb_build_object({d_pairs})
FROM {delta} AS d
WHERE d.delivery_id = $1
ORDER BY octet_length(concat({d_values})) DESC
LIMIT 1$sql$;
BEGIN
    SELECT
        omd_facts._key_pieces(e.anchor_entity_id, omd_facts._anchor_columns(p_entity_id))
        || jsonb_build_object(
            'delta', format('%I.%I', 'wrk_' || i.interface_code, 'delta_' || e.entity_code),
            'd_pairs', (
                SELECT string_agg(
                    format('%L, d.%I', k.attribute_code, k.attribute_code), ', '
                    ORDER BY k.key_position
                )
                FROM omd_facts.attribute AS k
                WHERE k.entity_id = p_entity_id AND k.key_position IS NOT NULL
            )
        )
    INTO v_pieces
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE e.entity_id = p_entity_id;
    SELECT
        v_pieces || jsonb_build_object(
            'values', string_agg(quote_ident(a.attribute_code), ', ' ORDER BY a.ordinal),
            'd_values', string_agg(format('d.%I', a.attribute_code), ', ' ORDER BY a.ordinal),
            'o_values', string_agg(format('o.%I', a.attribute_code), ', ' ORDER BY a.ordinal)
        ),
        min(c.context_kind)
    INTO v_pieces, v_kind
    FROM omd_facts.attribute AS a
    LEFT JOIN omd_facts.context AS c USING (context_id)
    WHERE a.entity_id = p_entity_id
        AND (p_context_id IS NULL OR a.context_id = p_context_id);
    IF p_is_too_long THEN
        v_statement := omd._render(v_longest, v_pieces);
        EXECUTE v_statement INTO v_key USING p_delivery_id;
    ELSIF v_kind = 'alternate_key' AND p_context_id IS NOT NULL THEN
        v_pieces := v_pieces || jsonb_build_object(
            'now', omd_facts._context_pieces(p_context_id) ->> 'now'
        );
        v_statement := omd._render(v_twice, v_pieces);
        EXECUTE v_statement INTO v_key USING p_delivery_id;
    END IF;
    RETURN coalesce(v_key, '{}');
END
$refused_key$;

COMMENT ON FUNCTION omd_facts._refused_key IS
'Returns the key of the row of the delta of p_delivery_id in the entity p_entity_id that the '
'context p_context_id (NULL: the anchor) does not take; p_is_too_long: for its length. {} when '
'none is found. Locks: none.';
