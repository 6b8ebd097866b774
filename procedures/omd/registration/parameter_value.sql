-- A value of the Module is more specific than one of the Batch, so it comes first.

CREATE OR REPLACE FUNCTION omd.parameter_value(
    p_parameter_code text,
    p_module_instance_id bigint DEFAULT NULL,
    p_batch_instance_id bigint DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $parameter_value$
DECLARE
    v_module_instance_id bigint := p_module_instance_id;
    v_batch_instance_id bigint := p_batch_instance_id;
    v_module_id integer;
    v_parameter_id integer;
    v_value text;
BEGIN
    SELECT p.parameter_id INTO v_parameter_id
    FROM omd.parameter AS p
    WHERE p.parameter_code = p_parameter_code;
    IF NOT FOUND THEN
        p_parameter_code := omd.require_argument('p_parameter_code', p_parameter_code);
        PERFORM omd.raise_error('OM012', jsonb_build_object('parameter_code', p_parameter_code));
    END IF;

    -- An in-database run need not give its ids.
    IF v_module_instance_id IS NULL AND v_batch_instance_id IS NULL THEN
        v_module_instance_id := nullif(current_setting('omd.module_instance_id', TRUE), '')::bigint;
    END IF;

    IF v_module_instance_id IS NOT NULL THEN
        SELECT mi.module_id, coalesce(v_batch_instance_id, mi.batch_instance_id)
        INTO v_module_id, v_batch_instance_id
        FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = v_module_instance_id;
        IF NOT FOUND THEN
            PERFORM omd.raise_error(
                'OM004', jsonb_build_object('module_instance_id', v_module_instance_id)
            );
        END IF;
    END IF;
    IF v_batch_instance_id <> 0 THEN
        PERFORM omd._require_batch_instance(v_batch_instance_id);
    END IF;

    SELECT mp.parameter_value INTO v_value
    FROM omd.module_parameter AS mp
    WHERE mp.module_id = v_module_id AND mp.parameter_id = v_parameter_id;
    IF NOT FOUND THEN
        SELECT bp.parameter_value INTO v_value
        FROM omd.batch_instance AS bi
        INNER JOIN omd.batch_parameter AS bp ON bi.batch_id = bp.batch_id
        WHERE bi.batch_instance_id = v_batch_instance_id AND bp.parameter_id = v_parameter_id;
    END IF;
    RETURN v_value;
END
$parameter_value$;

COMMENT ON FUNCTION omd.parameter_value IS
'Returns the value (text) of the parameter p_parameter_code for a run: the Module''s, else the '
'Batch''s, else NULL. Without ids it takes the running in-database Module '
'(omd.module_instance_id). Errors: OM003, OM004, OM005, OM012. Locks: none. May be NULL: the '
'value.';
GRANT EXECUTE ON FUNCTION omd.parameter_value TO omd_reader;
