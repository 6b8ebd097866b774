-- What is expected and not there is the one error of syntax.

CREATE OR REPLACE FUNCTION omd_delivery._check_expect(
    p_kinds text[],
    p_words text[],
    p_at integer,
    p_expected text
)
RETURNS integer
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $check_expect$
BEGIN
    IF coalesce(p_kinds[p_at] IN ('word', 'operator') AND p_words[p_at] = p_expected, FALSE) THEN
        RETURN p_at + 1;
    END IF;
    RAISE EXCEPTION USING
        ERRCODE = 'syntax_error',
        MESSAGE = format(
            'expected: %s, found: %s', upper(p_expected), coalesce(p_words[p_at], 'the end')
        );
END
$check_expect$;

COMMENT ON FUNCTION omd_delivery._check_expect IS
'Returns the place behind the token p_at of a check when that is the word or operator p_expected. '
'Errors: 42601: it is not. Locks: none.';
