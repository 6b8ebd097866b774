-- Programs that follow DIRECT call the multiple-instance check on its own; an evaluation includes
-- it.

CREATE OR REPLACE FUNCTION omd.module_active_instance_control(
    p_module_instance_id bigint
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $module_active_instance_control$
DECLARE
    v_module_id integer;
BEGIN
    IF p_module_instance_id IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_module_instance_id'));
    END IF;
    SELECT mi.module_id INTO v_module_id
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id;
    IF v_module_id IS NULL THEN
        PERFORM omd.raise_error(
            'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    END IF;

    RETURN CASE
        WHEN
            EXISTS (SELECT FROM omd._executing_module_instances(v_module_id, p_module_instance_id))
            THEN 'Abort'
        ELSE 'Process'
    END;
END
$module_active_instance_control$;

COMMENT ON FUNCTION omd.module_active_instance_control IS
'Returns the multiple-instance check: Abort when another executing instance of the same Module, '
'in whatever Batch, has a lower id, else Process. It changes nothing. Errors: OM004, OM005. '
'Locks: none. DIRECT, "Implementation Guidelines".';
GRANT EXECUTE ON FUNCTION omd.module_active_instance_control TO omd_reader;
