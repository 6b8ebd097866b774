-- The registry is the one place where a model is kept; the document is written from it.

CREATE OR REPLACE FUNCTION omd_delivery.model_document(
    p_interface_code text
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $model_document$
DECLARE
    v_interface omd_delivery.interface;
BEGIN
    PERFORM omd.require_name('p_interface_code', p_interface_code);
    SELECT i.* INTO v_interface
    FROM omd_delivery.interface AS i
    WHERE i.interface_code = p_interface_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM031', jsonb_build_object('interface_code', p_interface_code));
    END IF;
    RETURN omd_delivery._model_document(v_interface.interface_id);
END
$model_document$;

COMMENT ON FUNCTION omd_delivery.model_document IS
'Returns the model of the interface p_interface_code as a document; deploying it changes nothing. '
'p_interface_code: the interface. Errors: OM005: it is NULL; OM013: it is not allowed as a name; '
'OM031: it has no model. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery.model_document TO omd_reader, omd_runner, omd_admin;
