-- As _text, for what is true or false.

CREATE OR REPLACE FUNCTION omd_delivery._flag(
    p_object jsonb,
    p_key text,
    p_default boolean
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE p_object -> p_key
            WHEN 'true'::jsonb THEN TRUE
            WHEN 'false'::jsonb THEN FALSE
            ELSE p_default
        END;
END;

COMMENT ON FUNCTION omd_delivery._flag IS
'Returns what is under the key p_key of the JSON object p_object where it is true or false, else '
'p_default. Locks: none.';
