-- A key of the document that says what holds without it is left out, so that the document stays as
-- short as a modeller writes it.

CREATE OR REPLACE FUNCTION omd_delivery._model_document(
    p_interface_id integer
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
BEGIN ATOMIC
    SELECT
        omd_delivery._without_nulls(
            jsonb_build_object(
                'interface', i.interface_code,
                'facts', i.facts,
                'entities', (
                    SELECT jsonb_agg(omd_delivery._entity_document(e.entity_id) ORDER BY e.ordinal)
                    FROM omd_delivery.entity AS e
                    WHERE e.interface_id = i.interface_id
                ),
                'settings', (
                    SELECT jsonb_object_agg(c.constraint_code, s.setting)
                    FROM omd_delivery.constraint_setting AS s
                    INNER JOIN
                        omd_delivery.model_constraint AS c
                        ON s.constraint_id = c.constraint_id
                    INNER JOIN omd_delivery.entity AS e ON c.entity_id = e.entity_id
                    WHERE e.interface_id = i.interface_id AND NOT c.is_retired
                )
            )
        )
    FROM omd_delivery.interface AS i
    WHERE i.interface_id = p_interface_id;
END;

COMMENT ON FUNCTION omd_delivery._model_document IS
'Returns the model of the interface p_interface_id as a document. Locks: none.';
