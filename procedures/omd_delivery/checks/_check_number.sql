-- Integers are computed as decimals, which do not overflow. Spark keeps six digits behind the point
-- where a result needs more than 38, so what needs both is refused.

CREATE OR REPLACE FUNCTION omd_delivery._check_number(
    p_operator text,
    p_left jsonb,
    p_right jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $check_number$
DECLARE
    v_nodes jsonb[] := ARRAY[p_left, p_right];
    v_kinds text[] := ARRAY[p_left ->> 'kind', p_right ->> 'kind'];
    v_kind text;
    v_digits integer;
    v_scale integer;
BEGIN
    IF 'date' = ANY(v_kinds) THEN
        IF v_kinds = ARRAY['date', 'date'] AND p_operator = '-' THEN
            RETURN jsonb_build_object(
                'kind', 'integer',
                'digits', 7,
                'scale', 0,
                'spark', format('datediff(%s, %s)', p_left ->> 'spark', p_right ->> 'spark'),
                'sql', format('(%s - %s)', p_left ->> 'sql', p_right ->> 'sql')
            );
        ELSIF v_kinds = ARRAY['date', 'integer'] AND p_operator IN ('+', '-') THEN
            RETURN jsonb_build_object(
                'kind', 'date',
                'spark', format(
                    '%s(%s, CAST(%s AS INT))',
                    CASE p_operator WHEN '+' THEN 'date_add' ELSE 'date_sub' END,
                    p_left ->> 'spark', p_right ->> 'spark'
                ),
                'sql', format('(%s %s %s)', p_left ->> 'sql', p_operator, p_right ->> 'sql')
            );
        ELSIF v_kinds = ARRAY['integer', 'date'] AND p_operator = '+' THEN
            RETURN omd_delivery._check_number(p_operator, p_right, p_left);
        END IF;
    END IF;
    v_kind := omd_delivery._check_kind(v_nodes);
    IF v_kind NOT IN ('integer', 'numeric', 'double precision') THEN
        RAISE EXCEPTION USING
            ERRCODE = 'syntax_error',
            MESSAGE = format('%s %s %s can''t be computed', v_kinds[1], p_operator, v_kinds[2]);
    END IF;
    v_nodes := ARRAY[
        omd_delivery._check_as(p_left, v_kind), omd_delivery._check_as(p_right, v_kind)
    ];
    IF v_kind <> 'double precision' THEN
        v_scale := CASE p_operator
            WHEN '*'
                THEN
                    coalesce((p_left ->> 'scale')::integer, 0)
                    + coalesce((p_right ->> 'scale')::integer, 0)
            ELSE greatest((p_left ->> 'scale')::integer, (p_right ->> 'scale')::integer)
        END;
        v_digits := CASE p_operator
            WHEN '*'
                THEN
                    coalesce((p_left ->> 'digits')::integer, 1)
                    + coalesce((p_right ->> 'digits')::integer, 1) + 1
            ELSE
                v_scale + 1 + greatest(
                    (p_left ->> 'digits')::integer - (p_left ->> 'scale')::integer,
                    (p_right ->> 'digits')::integer - (p_right ->> 'scale')::integer
                )
        END;
        IF v_digits > 38 AND v_scale > 6 THEN
            RAISE EXCEPTION USING
                ERRCODE = 'syntax_error',
                MESSAGE = format('the result of %s may need more than 38 digits', p_operator);
        END IF;
    END IF;
    RETURN jsonb_build_object(
        'kind', v_kind,
        'digits', least(v_digits, 38),
        'scale', v_scale,
        'spark', format(
            '(%s %s %s)', omd_delivery._spark_decimal(v_nodes[1]), p_operator,
            omd_delivery._spark_decimal(v_nodes[2])
        ),
        'sql', format('(%s %s %s)', p_left ->> 'sql', p_operator, p_right ->> 'sql')
    );
END
$check_number$;

COMMENT ON FUNCTION omd_delivery._check_number IS
'Returns the part of a check that computes p_left p_operator p_right: +, - or *. Errors: 42601: it'
' can''t be computed. Locks: none.';
