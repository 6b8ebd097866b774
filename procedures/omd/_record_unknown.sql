-- The empty name stands for what nobody could look up.

CREATE OR REPLACE FUNCTION omd._record_unknown(
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO omd.run_input (module_instance_id, table_code)
    SELECT
        mi.module_instance_id,
        '' AS table_code
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id AND mi.execution_status_code = 'E'
    ON CONFLICT (module_instance_id, table_code) DO NOTHING;
END;

COMMENT ON FUNCTION omd._record_unknown IS
'Records that the run p_module_instance_id reads what nobody could look up. Locks: none.';
REVOKE ALL ON FUNCTION omd._record_unknown FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._record_unknown TO omd_runner, omd_admin;
