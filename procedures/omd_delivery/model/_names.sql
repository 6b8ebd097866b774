-- As _text, for a list of texts.

CREATE OR REPLACE FUNCTION omd_delivery._names(
    p_list jsonb
)
RETURNS text[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(i.item #>> '{}' ORDER BY i.ordinal), '{}')
    FROM omd.json_items(p_list) AS i
    WHERE jsonb_typeof(i.item) = 'string';
END;

COMMENT ON FUNCTION omd_delivery._names IS
'Returns the texts in the JSON list p_list. Locks: none.';
