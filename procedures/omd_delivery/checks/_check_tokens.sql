-- What is no token of the language is a token of the kind bad, and no expression has room for it.

CREATE OR REPLACE FUNCTION omd_delivery._check_tokens(
    p_check text
)
RETURNS TABLE (
    kind text,
    word text
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN t.m[1] IS NOT NULL THEN 'quoted'
            WHEN t.m[2] IS NOT NULL THEN 'string'
            WHEN t.m[3] IS NOT NULL THEN 'number'
            WHEN t.m[4] IS NOT NULL THEN 'word'
            WHEN t.m[5] IS NOT NULL THEN 'operator'
            ELSE 'bad'
        END AS kind,
        coalesce(
            replace(substr(t.m[1], 2, length(t.m[1]) - 2), '""', '"'),
            replace(substr(t.m[2], 2, length(t.m[2]) - 2), '''''', ''''),
            t.m[3],
            lower(t.m[4] COLLATE "C"),
            t.m[5],
            t.m[6]
        ) AS word
    FROM
        regexp_matches(
            p_check,
            '[ \t\n\r\f\v]+|("(?:[^"]|"")+")|(''(?:[^'']|'''')*'')'
            '|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)|([A-Za-z_][A-Za-z0-9_]*)'
            '|(<>|<=|>=|\|\||[-<>=+*(),])|(--|/\*|.)',
            'g'
        ) WITH ORDINALITY AS t (m, n)
    WHERE num_nonnulls(VARIADIC t.m) > 0
    ORDER BY t.n;
END;

COMMENT ON FUNCTION omd_delivery._check_tokens IS
'Returns the tokens of the check p_check in their order: quoted (an identifier in quotes), string,'
' number, word (in lower case), operator or bad. Locks: none.';
