-- Without a word of the modeller each alternate key is a context, as Unified Anchor Modelling has
-- it. One that has lost an attribute to a key before it is unique no longer, and is none.

CREATE OR REPLACE FUNCTION omd_facts._stated_contexts(
    p_entity jsonb,
    OUT context_code text,
    OUT context_kind text,
    OUT attributes text[]
)
RETURNS SETOF record
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $stated_contexts$
BEGIN
    IF p_entity -> 'facts' ? 'contexts' THEN
        RETURN QUERY
        SELECT
            c.item ->> 'name',
            coalesce(c.item ->> 'kind', 'standard'),
            ARRAY(
                SELECT a.code
                FROM jsonb_array_elements_text(coalesce(c.item -> 'attributes', '[]'))
                    WITH ORDINALITY AS a (code, n)
                ORDER BY a.n
            )
        FROM jsonb_array_elements(p_entity -> 'facts' -> 'contexts')
            WITH ORDINALITY AS c (item, n)
        ORDER BY c.n;
    ELSE
        RETURN QUERY
        WITH alternate_key AS (
            SELECT
                k.item ->> 'name' AS name,
                k.n,
                ARRAY(SELECT a.code FROM jsonb_array_elements_text(k.item -> 'attributes') AS a (code))
                AS codes
            FROM jsonb_array_elements(p_entity -> 'alternate_keys') WITH ORDINALITY AS k (item, n)
            WHERE NOT EXISTS (
                SELECT
                FROM jsonb_array_elements(p_entity -> 'attributes') AS a (item)
                WHERE a.item ->> 'key_position' IS NOT NULL
                    AND k.item -> 'attributes' ? (a.item ->> 'attribute_code')
            )
        )

        SELECT
            k.name,
            'alternate_key'::text,
            k.codes
        FROM alternate_key AS k
        WHERE NOT EXISTS (
            SELECT FROM alternate_key AS other WHERE other.n < k.n AND other.codes && k.codes
        )
        ORDER BY k.n;
    END IF;
END
$stated_contexts$;

COMMENT ON FUNCTION omd_facts._stated_contexts IS
'Returns the contexts that the modeller states for p_entity, an entity of a registry, or its '
'alternate keys. Locks: none.';
