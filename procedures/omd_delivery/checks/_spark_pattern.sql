-- Only what means the same in both engines is allowed. The anchors of Java know about line ends,
-- and its dot passes them over.

CREATE OR REPLACE FUNCTION omd_delivery._spark_pattern(
    p_pattern text
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $spark_pattern$
DECLARE
    v_piece text;
    v_java text := '';
    v_may_repeat boolean := FALSE;
BEGIN
    IF p_pattern IS NULL THEN
        RETURN NULL;
    END IF;
    FOR v_piece IN
        SELECT t.m[1]
        FROM regexp_matches(
            p_pattern,
            '(\\.|\[\^?\]?(?:\\.|[^]\\])*\]|\(\?:|\(\?|\{[0-9]+(?:,[0-9]*)?\}\??|[*+?]\??|.)', 'g'
        ) WITH ORDINALITY AS t (m, n)
        ORDER BY t.n
    LOOP
        IF v_piece ~ '^\\[A-Za-z0-9]' OR v_piece = '\' THEN
            RETURN NULL;
        ELSIF left(v_piece, 1) = '[' THEN
            IF v_piece = '[' OR v_piece ~ '^\[\^?\]' OR v_piece ~ '\\[A-Za-z0-9]'
                OR substr(v_piece, 2) ~ '\[' OR v_piece ~ '&&'
            THEN
                RETURN NULL;
            END IF;
            v_java := v_java || v_piece;
            v_may_repeat := TRUE;
        ELSIF v_piece ~ '^([*+?]|\{[0-9])' THEN
            IF NOT v_may_repeat THEN
                RETURN NULL;
            END IF;
            v_java := v_java || v_piece;
            v_may_repeat := FALSE;
        ELSIF v_piece IN ('(?', '{', ']', '}') THEN
            RETURN NULL;
        ELSIF v_piece IN ('(', '(?:', '|') THEN
            v_java := v_java || CASE v_piece WHEN '(' THEN '(?:' ELSE v_piece END;
            v_may_repeat := FALSE;
        ELSIF v_piece IN ('^', '$') THEN
            v_java := v_java || CASE v_piece WHEN '^' THEN '\A' ELSE '\z' END;
            v_may_repeat := FALSE;
        ELSE
            v_java := v_java || v_piece;
            v_may_repeat := TRUE;
        END IF;
    END LOOP;
    -- The engine of PostgreSQL says whether the rest is one.
    PERFORM '' ~ ('^(?:' || p_pattern || ')$');
    RETURN '(?s)\A(?:' || v_java || ')\z';
EXCEPTION
    WHEN invalid_regular_expression OR program_limit_exceeded THEN
        RETURN NULL;
END
$spark_pattern$;

COMMENT ON FUNCTION omd_delivery._spark_pattern IS
'Returns the regular expression p_pattern for the whole of a value as Java has it; NULL where it '
'is none or has what the two engines see differently: backslash classes, look-around, back '
'references, classes in brackets. Locks: none.';
