-- jsonb_strip_nulls would reach into what the model only keeps.

CREATE OR REPLACE FUNCTION omd_delivery._without_nulls(
    p_object jsonb
)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(jsonb_object_agg(o.key, o.value), '{}')
    FROM jsonb_each(p_object) AS o
    WHERE o.value <> 'null';
END;

COMMENT ON FUNCTION omd_delivery._without_nulls IS
'Returns the JSON object p_object without its keys that hold null. Locks: none.';
