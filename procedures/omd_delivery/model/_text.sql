-- A document comes from people: what has another shape than it should reads as missing, and the
-- problems are reported elsewhere.

CREATE OR REPLACE FUNCTION omd_delivery._text(
    p_object jsonb,
    p_key text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN jsonb_typeof(p_object -> p_key) = 'string' THEN p_object ->> p_key END;
END;

COMMENT ON FUNCTION omd_delivery._text IS
'Returns the text under the key p_key of the JSON object p_object; NULL where there is none. '
'Locks: none.';
