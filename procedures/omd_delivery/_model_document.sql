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
    SELECT jsonb_strip_nulls(
        jsonb_build_object('interface', i.interface_code)
    )
    FROM omd_delivery.interface AS i
    WHERE i.interface_id = p_interface_id;
END;

COMMENT ON FUNCTION omd_delivery._model_document IS
'Returns the model of the interface p_interface_id as a document. Locks: none.';
REVOKE ALL ON FUNCTION omd_delivery._model_document FROM PUBLIC;
