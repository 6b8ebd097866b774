-- This is the list of functions, each in the words of both engines. Spark counts from the end where
-- substring starts before 1, and changes more letters than those of ASCII.

CREATE OR REPLACE FUNCTION omd_delivery._check_call(
    p_function text,
    p_nodes jsonb[]
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $check_call$
DECLARE
    v_letters CONSTANT text := 'abcdefghijklmnopqrstuvwxyz';
    v_takes text[];
    v_first jsonb;
    v_spark text[];
    v_sql text[];
    v_pattern text;
BEGIN
    v_takes := CASE p_function
        WHEN 'abs' THEN ARRAY['number']
        WHEN 'length' THEN ARRAY['text']
        WHEN 'lower' THEN ARRAY['text']
        WHEN 'upper' THEN ARRAY['text']
        WHEN 'trim' THEN ARRAY['text']
        WHEN 'substring' THEN ARRAY['text', 'integer', 'integer']
        WHEN 'matches' THEN ARRAY['text', 'text']
        WHEN 'delivery_date' THEN '{}'
        WHEN 'coalesce' THEN array_fill('any'::text, ARRAY[greatest(cardinality(p_nodes), 1)])
        WHEN 'nullif' THEN ARRAY['any', 'any']
    END;
    IF v_takes IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'syntax_error',
            MESSAGE = format('there is no function %s in checks', left(p_function, 60));
    ELSIF cardinality(v_takes) <> cardinality(p_nodes)
        OR EXISTS (
            SELECT
            FROM unnest(p_nodes, v_takes) AS n (node, takes)
            WHERE n.takes <> 'any'
                AND NOT CASE n.takes
                    WHEN 'number' THEN n.node ->> 'kind' IN ('integer', 'numeric', 'double precision')
                    WHEN 'integer' THEN n.node ->> 'kind' = 'integer'
                    ELSE n.node ->> 'kind' IN ('text', 'unknown')
                END
        )
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'syntax_error',
            MESSAGE = format('the arguments are %s(%s)', p_function, array_to_string(v_takes, ', '));
    END IF;
    IF p_function IN ('coalesce', 'nullif') THEN
        RETURN omd_delivery._check_choice(p_function, p_nodes, NULL);
    END IF;
    v_first := p_nodes[1];
    v_spark := ARRAY(SELECT n ->> 'spark' FROM unnest(p_nodes) WITH ORDINALITY AS u (n, i) ORDER BY i);
    v_sql := ARRAY(SELECT n ->> 'sql' FROM unnest(p_nodes) WITH ORDINALITY AS u (n, i) ORDER BY i);
    CASE p_function
        WHEN 'abs' THEN
            RETURN v_first || jsonb_build_object(
                'spark', format('abs(%s)', omd_delivery._spark_decimal(v_first)),
                'sql', format('abs(%s)', v_sql[1])
            );
        WHEN 'length' THEN
            RETURN jsonb_build_object(
                'kind', 'integer',
                'digits', 10,
                'scale', 0,
                'spark', format('char_length(%s)', v_spark[1]),
                'sql', format('length(%s)', v_sql[1])
            );
        WHEN 'lower', 'upper' THEN
            RETURN jsonb_build_object(
                'kind', 'text',
                'spark', format(
                    'translate(%s, ''%s'', ''%s'')', v_spark[1],
                    CASE p_function WHEN 'upper' THEN v_letters ELSE upper(v_letters) END,
                    CASE p_function WHEN 'upper' THEN upper(v_letters) ELSE v_letters END
                ),
                'sql', format('%s(%s)', p_function, v_sql[1])
            );
        WHEN 'trim' THEN
            RETURN jsonb_build_object(
                'kind', 'text',
                'spark', format('trim(BOTH '' '' FROM %s)', v_spark[1]),
                'sql', format('trim(%s)', v_sql[1])
            );
        WHEN 'substring' THEN
            RETURN jsonb_build_object(
                'kind', 'text',
                'spark', format(
                    'substring(%1$s, CAST(CASE WHEN %2$s < 1 THEN 1 ELSE %2$s END AS INT), CAST('
                    'CASE WHEN %2$s >= 1 THEN %3$s WHEN %4$s > 1 THEN %4$s - 1 WHEN %4$s <= 1'
                    ' THEN 0 END AS INT))',
                    v_spark[1],
                    v_spark[2],
                    v_spark[3],
                    format(
                        '(%s + %s)', omd_delivery._spark_decimal(p_nodes[2]),
                        omd_delivery._spark_decimal(p_nodes[3])
                    )
                ),
                'sql', format('substring(%s, %s, %s)', v_sql[1], v_sql[2], v_sql[3])
            );
        WHEN 'matches' THEN
            v_pattern := omd_delivery._spark_pattern(p_nodes[2] ->> 'text');
            IF v_pattern IS NULL THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'syntax_error',
                    MESSAGE = 'matches takes a regular expression in quotes, without backslash '
                        'classes, look-around and back references';
            ELSIF omd_delivery._pattern_backtracks(p_nodes[2] ->> 'text') THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'syntax_error',
                    MESSAGE = 'the regular expression may need very long for a value: within what '
                        'is repeated, each character must tell how it goes on';
            END IF;
            RETURN jsonb_build_object(
                'kind', 'boolean',
                'spark', format(
                    '(%s RLIKE %s)', v_spark[1], omd_delivery._spark_text(v_pattern)
                ),
                'sql', format('omd_delivery.matches(%s, %s)', v_sql[1], v_sql[2])
            );
        WHEN 'delivery_date' THEN
            RETURN jsonb_build_object(
                'kind', 'date',
                'spark', 'delivery_date()',
                'sql', 'omd_delivery.delivery_date()'
            );
    END CASE;
    RETURN NULL;
END
$check_call$;

COMMENT ON FUNCTION omd_delivery._check_call IS
'Returns the part of a check that calls p_function with p_nodes. Errors: 42601: there is no such '
'function, or it takes others. Locks: none.';
