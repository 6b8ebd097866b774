-- What is shown is what is sent: a line break could hide the rest of a statement, and a character
-- that turns the direction of writing could show another one. So a literal is one line of
-- characters that one sees.

CREATE OR REPLACE FUNCTION omd_web._literal(
    p_text text
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $literal$
DECLARE
    v_unseen CONSTANT text
        := '[\u0001-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f'
        '\ufeff\ufff9-\ufffb]';
BEGIN
    IF p_text !~ v_unseen THEN
        RETURN quote_literal(p_text);
    END IF;
    RETURN (
        SELECT
            'E''' || string_agg(
                CASE
                    WHEN c.character IN ('''', '\') THEN repeat(c.character, 2)
                    WHEN c.character ~ v_unseen
                        THEN '\u' || lpad(to_hex(ascii(c.character)), 4, '0')
                    ELSE c.character
                END,
                '' ORDER BY c.place
            ) || ''''
        FROM string_to_table(p_text, NULL) WITH ORDINALITY AS c (character, place)
    );
END
$literal$;

COMMENT ON FUNCTION omd_web._literal IS
'Returns p_text as a literal of SQL in one line, where characters that nobody sees are escaped. It '
'returns NULL for NULL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web._literal TO omd_reader;
