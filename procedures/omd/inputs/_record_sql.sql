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
    v_look record;
BEGIN
    SELECT d.executable INTO v_own FROM omd.module_definition(p_module_code) AS d;
    IF v_own = p_executable THEN
        RETURN;
    END IF;
    v_look := omd._statement_inputs(p_executable);
    PERFORM omd._record_look(p_module_instance_id, v_look.p_tables, v_look.p_problem);
END
$record_sql$;

COMMENT ON FUNCTION omd._record_sql IS
'Records what the run p_module_instance_id of the Module p_module_code reads when it executes '
'p_executable and not the SQL of its Module. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._record_sql TO omd_runner;
