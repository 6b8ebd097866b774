-- Spark has no word for IS DISTINCT FROM in all its sessions, and refuses needless escapes in LIKE.

CREATE OR REPLACE FUNCTION omd_delivery._check_condition(
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
AS $check_condition$
DECLARE
    v_kind text;
    v_left jsonb;
    v_right jsonb;
    v_pattern text;
BEGIN
    v_kind := CASE
        WHEN p_operator IN ('AND', 'OR', 'NOT') THEN 'boolean'
        WHEN p_operator IN ('||', 'LIKE', 'NOT LIKE') THEN 'text'
        ELSE omd_delivery._check_kind(ARRAY[p_left, p_right])
    END;
    IF p_left ->> 'kind' <> 'unknown' AND p_right ->> 'kind' <> 'unknown'
        OR v_kind IN ('boolean', 'text')
    THEN
        IF EXISTS (
            SELECT FROM (VALUES (p_left), (p_right)) AS n (node)
            WHERE n.node ->> 'kind' NOT IN ('unknown', v_kind)
                AND v_kind IN ('boolean', 'text')
        ) THEN
            RAISE EXCEPTION USING
                ERRCODE = 'syntax_error',
                MESSAGE = format(
                    '%s takes %s, not %s', p_operator, v_kind,
                    concat_ws(' and ', p_left ->> 'kind', p_right ->> 'kind')
                );
        END IF;
    END IF;
    v_left := omd_delivery._check_as(p_left, v_kind);
    IF p_operator = 'NOT' THEN
        RETURN jsonb_build_object(
            'kind', 'boolean',
            'spark', format('(NOT %s)', v_left ->> 'spark'),
            'sql', format('(NOT %s)', v_left ->> 'sql')
        );
    END IF;
    v_right := omd_delivery._check_as(p_right, v_kind);
    IF p_operator LIKE '%LIKE' THEN
        v_pattern := p_right ->> 'text';
        IF v_pattern IS NULL OR v_pattern ~ '^(\\.|[^\\])*\\$' THEN
            RAISE EXCEPTION USING
                ERRCODE = 'syntax_error',
                MESSAGE = 'LIKE takes a pattern in quotes, which no backslash ends';
        END IF;
        v_right := v_right || jsonb_build_object(
            'spark',
            omd_delivery._spark_text(
                (
                    SELECT
                        coalesce(
                            string_agg(
                                CASE WHEN m.m[1] ~ '^\\[^%_\\]' THEN substr(m.m[1], 2) ELSE m.m[1] END,
                                '' ORDER BY m.n
                            ),
                            ''
                        )
                    FROM regexp_matches(v_pattern, '(\\.|.)', 'g') WITH ORDINALITY AS m (m, n)
                )
            )
        );
    END IF;
    RETURN jsonb_build_object(
        'kind', CASE p_operator WHEN '||' THEN 'text' ELSE 'boolean' END,
        'spark',
        format(
            CASE p_operator
                WHEN '||' THEN 'concat(%s, %s)'
                WHEN 'IS DISTINCT FROM' THEN '(NOT (%s <=> %s))'
                WHEN 'IS NOT DISTINCT FROM' THEN '(%s <=> %s)'
                ELSE '(%s ' || p_operator || ' %s)'
            END,
            v_left ->> 'spark', v_right ->> 'spark'
        ),
        'sql', format('(%s %s %s)', v_left ->> 'sql', p_operator, v_right ->> 'sql')
    );
END
$check_condition$;

COMMENT ON FUNCTION omd_delivery._check_condition IS
'Returns the part of a check p_left p_operator p_right: a comparison, IS DISTINCT FROM, AND, OR, '
'LIKE, ||, or NOT of p_left alone. Errors: 42601: the parts do not fit. Locks: none.';
