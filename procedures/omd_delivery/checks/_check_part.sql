-- A parser by precedence, with PostgreSQL's: from 1, OR, over AND, NOT, IS, comparison, BETWEEN IN
-- LIKE, ||, + -, * to 10, the sign. Each part is written anew for both engines with its
-- parentheses, so no text of a modeller reaches one of them unread.

CREATE OR REPLACE FUNCTION omd_delivery._check_part(
    p_kinds text[],
    p_words text[],
    p_types jsonb,
    p_at integer,
    p_level integer,
    p_depth integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $check_part$
DECLARE
    v_at integer := p_at;
    v_node jsonb;
    v_other jsonb;
    v_kind text;
    v_word text;
    v_level integer;
    v_highest integer := 10;
    v_not text;
    v_nodes jsonb[];
    v_conditions jsonb[];
BEGIN
    IF p_depth > 60 THEN
        RAISE EXCEPTION USING ERRCODE = 'syntax_error', MESSAGE = 'it is nested too deeply';
    END IF;

    -- What a part begins with
    v_kind := p_kinds[v_at];
    v_word := p_words[v_at];
    IF v_kind = 'number' THEN
        v_node := omd_delivery._check_constant(v_word);
        v_at := v_at + 1;
    ELSIF v_kind = 'string' THEN
        v_node := jsonb_build_object(
            'kind', 'unknown',
            'text', v_word,
            'spark', omd_delivery._spark_text(v_word),
            'sql', quote_literal(v_word)
        );
        v_at := v_at + 1;
    ELSIF v_kind = 'word' AND v_word IN ('date', 'timestamp') AND p_kinds[v_at + 1] = 'string' THEN
        v_node := omd_delivery._check_as(
            jsonb_build_object(
                'kind', 'unknown',
                'text', p_words[v_at + 1],
                'sql', format('%s %L', upper(v_word), p_words[v_at + 1])
            ),
            v_word
        );
        v_at := v_at + 2;
    ELSIF v_kind = 'word' AND v_word IN ('true', 'false') THEN
        v_node := jsonb_build_object(
            'kind', 'boolean', 'spark', upper(v_word), 'sql', upper(v_word)
        );
        v_at := v_at + 1;
    ELSIF v_kind = 'word' AND v_word = 'null' THEN
        v_node := jsonb_build_object('kind', 'unknown', 'spark', 'NULL', 'sql', 'NULL');
        v_at := v_at + 1;
    ELSIF v_kind = 'word' AND v_word = 'not' AND p_level <= 3 THEN
        v_other := omd_delivery._check_part(
            p_kinds, p_words, p_types, v_at + 1, 3, p_depth + 1
        );
        v_node := omd_delivery._check_condition('NOT', v_other, NULL);
        v_at := (v_other -> 'at')::integer;
    ELSIF v_kind = 'operator' AND v_word IN ('-', '+') THEN
        v_other := omd_delivery._check_part(
            p_kinds, p_words, p_types, v_at + 1, 10, p_depth + 1
        );
        IF v_other ->> 'kind' NOT IN ('integer', 'numeric', 'double precision') THEN
            RAISE EXCEPTION USING
                ERRCODE = 'syntax_error',
                MESSAGE = format('%s has no sign', v_other ->> 'kind');
        END IF;
        v_node := v_other || jsonb_build_object(
            'spark', format(
                '(%s%s)', v_word,
                CASE
                    WHEN p_kinds[v_at + 1] = 'number' THEN v_other ->> 'spark'
                    ELSE omd_delivery._spark_decimal(v_other)
                END
            ),
            'sql', format('(%s %s)', v_word, v_other ->> 'sql')
        );
        v_at := (v_other -> 'at')::integer;
    ELSIF v_kind = 'operator' AND v_word = '(' THEN
        v_other := omd_delivery._check_part(
            p_kinds, p_words, p_types, v_at + 1, 1, p_depth + 1
        );
        v_node := v_other || jsonb_build_object(
            'spark', format('(%s)', v_other ->> 'spark'),
            'sql', format('(%s)', v_other ->> 'sql')
        );
        v_at := omd_delivery._check_expect(p_kinds, p_words, (v_other -> 'at')::integer, ')');
    ELSIF v_kind = 'word' AND v_word = 'case' THEN
        v_at := v_at + 1;
        IF NOT (p_kinds[v_at] = 'word' AND p_words[v_at] = 'when') THEN
            v_other := omd_delivery._check_part(p_kinds, p_words, p_types, v_at, 1, p_depth + 1);
            v_at := (v_other -> 'at')::integer;
        END IF;
        WHILE p_kinds[v_at] = 'word' AND p_words[v_at] = 'when' LOOP
            v_node := omd_delivery._check_part(p_kinds, p_words, p_types, v_at + 1, 1, p_depth + 1);
            v_at := omd_delivery._check_expect(
                p_kinds, p_words, (v_node -> 'at')::integer, 'then'
            );
            v_conditions := v_conditions || CASE
                WHEN v_other IS NULL THEN v_node
                ELSE omd_delivery._check_condition('=', v_other, v_node)
            END;
            v_node := omd_delivery._check_part(p_kinds, p_words, p_types, v_at, 1, p_depth + 1);
            v_at := (v_node -> 'at')::integer;
            v_nodes := v_nodes || v_node;
        END LOOP;
        IF p_kinds[v_at] = 'word' AND p_words[v_at] = 'else' AND v_nodes IS NOT NULL THEN
            v_node := omd_delivery._check_part(p_kinds, p_words, p_types, v_at + 1, 1, p_depth + 1);
            v_at := (v_node -> 'at')::integer;
            v_nodes := v_nodes || v_node;
        END IF;
        v_at := omd_delivery._check_expect(
            p_kinds, p_words, v_at, CASE WHEN v_nodes IS NULL THEN 'when' ELSE 'end' END
        );
        v_node := omd_delivery._check_choice('case', v_nodes, v_conditions);
    ELSIF v_kind = 'word' AND p_kinds[v_at + 1] = 'operator' AND p_words[v_at + 1] = '(' THEN
        v_at := v_at + 2;
        WHILE NOT (v_nodes IS NULL AND p_kinds[v_at] = 'operator' AND p_words[v_at] = ')') LOOP
            v_other := omd_delivery._check_part(p_kinds, p_words, p_types, v_at, 1, p_depth + 1);
            v_nodes := v_nodes || v_other;
            v_at := (v_other -> 'at')::integer;
            EXIT WHEN NOT (p_kinds[v_at] = 'operator' AND p_words[v_at] = ',');
            v_at := v_at + 1;
        END LOOP;
        v_at := omd_delivery._check_expect(p_kinds, p_words, v_at, ')');
        v_node := omd_delivery._check_call(v_word, coalesce(v_nodes, '{}'));
    ELSIF v_kind = 'quoted' OR v_kind = 'word' THEN
        v_node := omd_delivery._check_attribute(v_word, v_kind = 'quoted', p_types);
        v_at := v_at + 1;
    ELSE
        v_at := omd_delivery._check_expect(p_kinds, p_words, v_at, 'an expression');
    END IF;

    -- What follows it
    LOOP
        v_kind := p_kinds[v_at];
        v_word := CASE WHEN v_kind IN ('word', 'operator') THEN p_words[v_at] END;
        v_not := '';
        IF v_word = 'not' THEN
            v_not := 'NOT ';
            v_word := CASE WHEN p_kinds[v_at + 1] = 'word' THEN p_words[v_at + 1] END;
            EXIT WHEN coalesce(v_word NOT IN ('between', 'in', 'like'), TRUE);
        END IF;
        v_level := CASE
            WHEN v_word = 'or' THEN 1
            WHEN v_word = 'and' THEN 2
            WHEN v_word = 'is' THEN 4
            WHEN v_word IN ('=', '<>', '<', '<=', '>', '>=') THEN 5
            WHEN v_word IN ('between', 'in', 'like') THEN 6
            WHEN v_word = '||' THEN 7
            WHEN v_word IN ('+', '-') THEN 8
            WHEN v_word = '*' THEN 9
        END;
        EXIT WHEN v_level IS NULL OR v_level < p_level OR v_level > v_highest;
        v_at := v_at + 1 + (v_not <> '')::integer;
        -- IS, comparisons, BETWEEN, IN and LIKE do not follow each other.
        v_highest := CASE WHEN v_level BETWEEN 4 AND 6 THEN v_level - 1 ELSE v_level END;
        IF v_word = 'is' THEN
            IF p_kinds[v_at] = 'word' AND p_words[v_at] = 'not' THEN
                v_not := 'NOT ';
                v_at := v_at + 1;
            END IF;
            IF p_kinds[v_at] = 'word' AND p_words[v_at] = 'null' THEN
                v_at := v_at + 1;
                v_node := jsonb_build_object(
                    'kind', 'boolean',
                    'spark', format('(%s IS %sNULL)', v_node ->> 'spark', v_not),
                    'sql', format('(%s IS %sNULL)', v_node ->> 'sql', v_not)
                );
            ELSE
                v_at := omd_delivery._check_expect(p_kinds, p_words, v_at, 'distinct');
                v_at := omd_delivery._check_expect(p_kinds, p_words, v_at, 'from');
                v_other := omd_delivery._check_part(
                    p_kinds, p_words, p_types, v_at, 5, p_depth + 1
                );
                v_at := (v_other -> 'at')::integer;
                v_node := omd_delivery._check_condition(
                    format('IS %sDISTINCT FROM', v_not), v_node, v_other
                );
            END IF;
        ELSIF v_word = 'in' THEN
            v_at := omd_delivery._check_expect(p_kinds, p_words, v_at, '(');
            v_nodes := ARRAY[v_node];
            LOOP
                v_other := omd_delivery._check_part(
                    p_kinds, p_words, p_types, v_at, 1, p_depth + 1
                );
                v_nodes := v_nodes || v_other;
                v_at := (v_other -> 'at')::integer;
                EXIT WHEN NOT (p_kinds[v_at] = 'operator' AND p_words[v_at] = ',');
                v_at := v_at + 1;
            END LOOP;
            v_at := omd_delivery._check_expect(p_kinds, p_words, v_at, ')');
            v_node := omd_delivery._check_choice(v_not || 'IN', v_nodes, NULL);
        ELSIF v_word = 'between' THEN
            v_nodes := ARRAY[v_node];
            v_other := omd_delivery._check_part(p_kinds, p_words, p_types, v_at, 7, p_depth + 1);
            v_nodes := v_nodes || v_other;
            v_at := omd_delivery._check_expect(
                p_kinds, p_words, (v_other -> 'at')::integer, 'and'
            );
            v_other := omd_delivery._check_part(p_kinds, p_words, p_types, v_at, 7, p_depth + 1);
            v_nodes := v_nodes || v_other;
            v_at := (v_other -> 'at')::integer;
            v_node := omd_delivery._check_choice(v_not || 'BETWEEN', v_nodes, NULL);
        ELSE
            v_other := omd_delivery._check_part(
                p_kinds, p_words, p_types, v_at, v_level + 1, p_depth + 1
            );
            v_at := (v_other -> 'at')::integer;
            v_node := CASE
                WHEN v_word IN ('+', '-', '*')
                    THEN omd_delivery._check_number(v_word, v_node, v_other)
                ELSE omd_delivery._check_condition(v_not || upper(v_word), v_node, v_other)
            END;
        END IF;
    END LOOP;
    RETURN v_node || jsonb_build_object('at', v_at);
END
$check_part$;

COMMENT ON FUNCTION omd_delivery._check_part IS
'Returns the part of a check that begins at the token p_at and ends before an operator of a lower '
'precedence than p_level: kind, spark, sql, and at, the token behind it. p_kinds, p_words: the '
'tokens. p_types: the types of the attributes. p_depth: how many parts it is in. Errors: 42601: it'
' is none. Locks: none.';
