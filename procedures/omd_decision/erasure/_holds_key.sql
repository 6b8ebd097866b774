-- What a cycle keeps is as deep as its author wanted, so each object in it is looked at.

CREATE OR REPLACE FUNCTION omd_decision._holds_key(
    p_document jsonb,
    p_columns jsonb,
    p_keys jsonb
)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $holds_key$
BEGIN
    IF p_document IS NULL THEN
        RETURN FALSE;
    END IF;
    RETURN EXISTS (
        SELECT FROM jsonb_path_query(p_document, 'strict $.**') AS o (item)
        CROSS JOIN jsonb_array_elements(p_keys) AS k (key)
        WHERE jsonb_typeof(o.item) = 'object'
            AND NOT EXISTS (
                SELECT FROM jsonb_each_text(p_columns) AS c (name, attribute)
                WHERE (
                    o.item -> c.name = k.key -> c.attribute
                    OR o.item ->> c.name = k.key ->> c.attribute
                ) IS NOT TRUE
            )
    );
END
$holds_key$;

COMMENT ON FUNCTION omd_decision._holds_key IS
'Returns whether an object in p_document has one of p_keys in the properties p_columns, {property: '
'attribute of the key}. Locks: none.';
