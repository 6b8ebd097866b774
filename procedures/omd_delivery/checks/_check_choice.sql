-- All values come to one kind, as in PostgreSQL, before one is compared or chosen.

CREATE OR REPLACE FUNCTION omd_delivery._check_choice(
    p_operator text,
    p_nodes jsonb[],
    p_conditions jsonb[]
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $check_choice$
DECLARE
    v_kind CONSTANT text := omd_delivery._check_kind(p_nodes);
    v_spark text[];
    v_sql text[];
    v_node jsonb;
    v_digits integer;
    v_scale integer;
BEGIN
    SELECT
        array_agg(c.node ->> 'spark' ORDER BY n.n),
        array_agg(c.node ->> 'sql' ORDER BY n.n),
        max((n.node ->> 'scale')::integer),
        max((n.node ->> 'digits')::integer - (n.node ->> 'scale')::integer)
    INTO v_spark, v_sql, v_scale, v_digits
    FROM unnest(p_nodes) WITH ORDINALITY AS n (node, n)
    CROSS JOIN LATERAL (SELECT omd_delivery._check_as(n.node, v_kind) AS node) AS c;
    v_node := jsonb_build_object('kind', v_kind);
    IF v_kind IN ('integer', 'numeric') THEN
        v_node := v_node || jsonb_build_object(
            'digits', least(coalesce(v_digits + v_scale, 38), 38), 'scale', coalesce(v_scale, 0)
        );
    END IF;
    IF p_operator LIKE '%BETWEEN' THEN
        RETURN jsonb_build_object(
            'kind', 'boolean',
            'spark', format('(%s %s %s AND %s)', v_spark[1], p_operator, v_spark[2], v_spark[3]),
            'sql', format('(%s %s %s AND %s)', v_sql[1], p_operator, v_sql[2], v_sql[3])
        );
    ELSIF p_operator LIKE '%IN' THEN
        RETURN jsonb_build_object(
            'kind', 'boolean',
            'spark', format(
                '(%s %s (%s))', v_spark[1], p_operator, array_to_string(v_spark[2:], ', ')
            ),
            'sql', format('(%s %s (%s))', v_sql[1], p_operator, array_to_string(v_sql[2:], ', '))
        );
    ELSIF p_operator = 'case' THEN
        IF EXISTS (
            SELECT FROM unnest(p_conditions) AS c (node)
            WHERE c.node ->> 'kind' <> 'boolean' AND c.node ? 'text'
                OR c.node ->> 'kind' NOT IN ('boolean', 'unknown')
        ) THEN
            RAISE EXCEPTION USING ERRCODE = 'syntax_error', MESSAGE = 'WHEN takes a condition';
        END IF;
        RETURN v_node || (
            SELECT
                jsonb_build_object(
                    'spark', format(
                        'CASE %s%s END',
                        string_agg(
                            format('WHEN %s THEN %s', c.node ->> 'spark', v_spark[c.n]), ' '
                            ORDER BY c.n
                        ),
                        ' ELSE ' || v_spark[count(*) + 1]
                    ),
                    'sql', format(
                        'CASE %s%s END',
                        string_agg(
                            format('WHEN %s THEN %s', c.node ->> 'sql', v_sql[c.n]), ' '
                            ORDER BY c.n
                        ),
                        ' ELSE ' || v_sql[count(*) + 1]
                    )
                )
            FROM unnest(p_conditions) WITH ORDINALITY AS c (node, n)
        );
    END IF;
    RETURN v_node || jsonb_build_object(
        'spark', format('%s(%s)', p_operator, array_to_string(v_spark, ', ')),
        'sql', format('%s(%s)', p_operator, array_to_string(v_sql, ', '))
    );
END
$check_choice$;

COMMENT ON FUNCTION omd_delivery._check_choice IS
'Returns the part of a check in which the values p_nodes are compared or chosen from: [NOT] IN, '
'[NOT] BETWEEN, coalesce, nullif, or case with p_conditions. Errors: 42601: they do not fit. '
'Locks: none.';
