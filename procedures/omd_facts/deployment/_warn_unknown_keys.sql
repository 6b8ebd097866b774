-- Only alternate keys of the model are checked by delivery. One that is none may come twice, and
-- then no load takes the delivery.

CREATE OR REPLACE FUNCTION omd_facts._warn_unknown_keys(
    p_registry jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $warn_unknown_keys$
DECLARE
    v_context record;
BEGIN
    FOR v_context IN
        SELECT
            e.item ->> 'entity_code' AS entity_code,
            c.context_code,
            string_agg(a.attribute_code, ', ' ORDER BY a.ordinal) AS codes
        FROM jsonb_array_elements(p_registry -> 'entities') AS e (item)
        INNER JOIN omd_facts.context AS c
            ON c.entity_id = (e.item ->> 'entity_id')::integer
                AND c.context_kind = 'alternate_key'
        INNER JOIN omd_facts.attribute AS a USING (context_id)
        GROUP BY e.item, c.context_id
        HAVING NOT EXISTS (
            SELECT FROM jsonb_array_elements(e.item -> 'alternate_keys') AS k (item)
            WHERE k.item -> 'attributes' <@ jsonb_agg(a.attribute_code)
        )
        ORDER BY 1, 2
    LOOP
        RAISE WARNING USING
            MESSAGE = format(
                'entity "%s": context "%s" is an alternate key, and the model has none of %s',
                v_context.entity_code, v_context.context_code, v_context.codes
            ),
            HINT = 'Add it to alternate_keys of the entity, so that deliveries are checked for it.';
    END LOOP;
END
$warn_unknown_keys$;

COMMENT ON FUNCTION omd_facts._warn_unknown_keys IS
'Warns of each alternate_key context of p_registry that holds no alternate key of the model. '
'Locks: none.';
