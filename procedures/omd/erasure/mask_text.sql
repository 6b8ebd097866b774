-- The caller gives the longest text first: it may contain another one.

CREATE OR REPLACE FUNCTION omd.mask_text(
    p_text text,
    p_texts text[]
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $mask_text$
DECLARE
    v_masked text := p_text;
    v_text text;
BEGIN
    FOREACH v_text IN ARRAY p_texts LOOP
        v_masked := replace(v_masked, v_text, '[erased]');
    END LOOP;
    RETURN v_masked;
END
$mask_text$;

COMMENT ON FUNCTION omd.mask_text IS
'For rooms: Returns p_text with [erased] in the place of each of p_texts. Locks: none.';
