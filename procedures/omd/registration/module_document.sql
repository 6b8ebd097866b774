-- What register_module takes, so that a document of a Module can be compared and written again.

CREATE OR REPLACE FUNCTION omd.module_document(
    p_module_code text
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $module_document$
DECLARE
    v_module_id integer := omd._require_module(p_module_code);
BEGIN
    RETURN (
        SELECT jsonb_strip_nulls(jsonb_build_object(
            'area_code', m.area_code,
            'table_code', m.table_code,
            'table_type_code', m.table_type_code,
            'platform_code', m.platform_code,
            'executable', m.executable,
            'module_description', m.module_description,
            'business_key_columns', to_jsonb(m.business_key_columns),
            'effective_date_column', m.effective_date_column,
            'expiry_date_column', m.expiry_date_column,
            'current_indicator_column', m.current_indicator_column,
            'insert_instance_column', m.insert_instance_column,
            'update_instance_column', m.update_instance_column,
            'companion_module_codes', to_jsonb(nullif(ARRAY(
                SELECT o.module_code
                FROM omd.module_companion AS c
                INNER JOIN omd.module AS o ON c.companion_module_id = o.module_id
                WHERE c.module_id = m.module_id
                ORDER BY o.module_code
            ), '{}')),
            'inactive_indicator', m.inactive_indicator,
            'table_format_code', m.table_format_code,
            'open_expiry_date', m.open_expiry_date,
            'job', m.job,
            'backoff', m.backoff,
            'backoff_limit', m.backoff_limit,
            'max_failures', m.max_failures,
            'start_hint', m.start_hint
        ))
        FROM omd.module AS m
        WHERE m.module_id = v_module_id
    );
END
$module_document$;

COMMENT ON FUNCTION omd.module_document IS
'For the driver: '
'Returns the arguments with which omd.register_module makes the Module p_module_code what it is; '
'what is not set is left out. Errors: OM002, OM005. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.module_document TO omd_reader;
