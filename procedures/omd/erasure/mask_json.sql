-- Names of properties say what a value is, and stay.

CREATE OR REPLACE FUNCTION omd.mask_json(
    p_document jsonb,
    p_texts text[]
)
RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $mask_json$
BEGIN
    RETURN CASE jsonb_typeof(p_document)
        WHEN 'string' THEN to_jsonb(omd.mask_text(p_document #>> '{}', p_texts))
        WHEN 'array' THEN (
            SELECT coalesce(jsonb_agg(omd.mask_json(e.item, p_texts) ORDER BY e.n), '[]')
            FROM jsonb_array_elements(p_document) WITH ORDINALITY AS e (item, n)
        )
        WHEN 'object' THEN (
            SELECT coalesce(jsonb_object_agg(o.key, omd.mask_json(o.value, p_texts)), '{}')
            FROM jsonb_each(p_document) AS o
        )
        ELSE p_document
    END;
END
$mask_json$;

COMMENT ON FUNCTION omd.mask_json IS
'For rooms: Returns p_document with p_texts masked in its strings, as mask_text does. Locks: none.';
