-- A statement is one readable text with {pieces}. Each piece is SQL that was quoted where it was
-- made, and none contains a brace.

CREATE OR REPLACE FUNCTION omd_facts._fill(
    p_template text,
    p_pieces jsonb
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fill$
DECLARE
    v_piece record;
    v_text text := p_template;
BEGIN
    FOR v_piece IN SELECT p.key, p.value FROM jsonb_each_text(p_pieces) AS p LOOP
        v_text := replace(v_text, '{' || v_piece.key || '}', coalesce(v_piece.value, ''));
    END LOOP;
    RETURN btrim(regexp_replace(v_text, '\n\s*(?=\n)', '', 'g'), E'\n ');
END
$fill$;

COMMENT ON FUNCTION omd_facts._fill IS
'Returns p_template with each {key} of p_pieces replaced by its value. Locks: none.';
