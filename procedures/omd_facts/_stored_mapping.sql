-- What stored rows mean, as far as a deployment must not change it.

CREATE OR REPLACE FUNCTION omd_facts._stored_mapping(
    p_interface_id integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $stored_mapping$
BEGIN
    RETURN (
        SELECT
            jsonb_object_agg(
                e.entity_code || '.' || a.attribute_code,
                jsonb_build_object(
                    'entity_id', e.entity_id,
                    'anchor_table', e.anchor_table,
                    'supertype_id', e.supertype_id,
                    'data_type', a.data_type,
                    'key_position', a.key_position,
                    'context_table', c.context_table,
                    'context_kind', c.context_kind
                )
            )
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.attribute AS a USING (entity_id)
        LEFT JOIN omd_facts.context AS c ON a.context_id = c.context_id
        WHERE e.interface_id = p_interface_id
    );
END
$stored_mapping$;

COMMENT ON FUNCTION omd_facts._stored_mapping IS
'Returns where and how each attribute of the interface p_interface_id is stored; NULL before its '
'first deployment. Locks: none.';
REVOKE ALL ON FUNCTION omd_facts._stored_mapping FROM PUBLIC;
