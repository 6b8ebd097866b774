-- The function is SECURITY DEFINER, so that a driver needs no right on the tables.

CREATE OR REPLACE FUNCTION omd.module_definition(
    p_module_code text
)
RETURNS TABLE (
    module_id integer,
    module_code text,
    area_code text,
    table_code text,
    table_type_code text,
    platform_code text,
    business_key_columns text[],
    effective_date_column text,
    expiry_date_column text,
    current_indicator_column text,
    insert_instance_column text,
    update_instance_column text,
    executable text,
    inactive_indicator text,
    table_format_code text,
    open_expiry_date text,
    module_kind_code text,
    engine_code text,
    job text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $module_definition$
DECLARE
    v_module_id integer := omd._require_module(p_module_code);
BEGIN
    RETURN QUERY
    SELECT
        m.module_id, m.module_code, m.area_code, m.table_code, m.table_type_code, m.platform_code,
        m.business_key_columns, m.effective_date_column, m.expiry_date_column,
        m.current_indicator_column,
        m.insert_instance_column, m.update_instance_column, m.executable, m.inactive_indicator,
        m.table_format_code, m.open_expiry_date, m.module_kind_code, m.engine_code, m.job
    FROM omd.module AS m
    WHERE m.module_id = v_module_id;
END
$module_definition$;

COMMENT ON FUNCTION omd.module_definition IS
'For the driver: '
'One row: how the Module p_module_code is registered. Errors: OM002, OM005. Locks: none. May be '
'NULL: business_key_columns, effective_date_column, expiry_date_column, current_indicator_column, '
'update_instance_column, executable, table_format_code, engine_code, job.';
GRANT EXECUTE ON FUNCTION omd.module_definition TO omd_reader;
