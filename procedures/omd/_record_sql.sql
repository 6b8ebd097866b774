-- A run may be given other SQL than its Module has, or SQL for a Module that has none.

CREATE OR REPLACE FUNCTION omd._record_sql(
    p_module_code text,
    p_module_instance_id bigint,
    p_executable text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $record_sql$
DECLARE
    v_own text;
    v_found record;
    v_table text;
BEGIN
    SELECT d.executable INTO v_own FROM omd.module_definition(p_module_code) AS d;
    IF v_own = p_executable THEN
        RETURN;
    END IF;
    v_found := omd._statement_inputs(p_executable);
    IF v_found.p_problem IS NOT NULL THEN
        PERFORM omd._record_unknown(p_module_instance_id);
    END IF;
    FOREACH v_table IN ARRAY coalesce(v_found.p_tables, '{}') LOOP
        CALL omd.record_input(v_table, p_module_instance_id);
    END LOOP;
END
$record_sql$;

COMMENT ON FUNCTION omd._record_sql IS
'Records what the run p_module_instance_id of the Module p_module_code reads when it executes '
'p_executable and not the SQL of its Module. Locks: none.';
REVOKE ALL ON FUNCTION omd._record_sql FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._record_sql TO omd_runner, omd_admin;
