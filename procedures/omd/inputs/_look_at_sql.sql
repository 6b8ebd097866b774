-- A text of a user is parsed with the rights of who runs it. The server calls code of users while
-- it reads such a text, so a session that calls none (omd.user_code is off) leaves it to others.

CREATE OR REPLACE FUNCTION omd._look_at_sql(
    p_module_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $look_at_sql$
DECLARE
    v_executable text;
    v_look record;
BEGIN
    IF current_setting('omd.user_code', TRUE) = 'off' THEN
        RETURN;
    END IF;
    SELECT d.executable INTO v_executable FROM omd.module_definition(p_module_code) AS d;
    v_look := omd._statement_inputs(v_executable);
    PERFORM omd._save_look(
        p_module_code, md5(v_executable), v_look.p_tables, v_look.p_problem
    );
END
$look_at_sql$;

COMMENT ON FUNCTION omd._look_at_sql IS
'Looks up what the SQL of the Module p_module_code reads, unless the setting omd.user_code is off. '
'Locks: the Module, where something is new.';
GRANT EXECUTE ON FUNCTION omd._look_at_sql TO omd_runner, omd_admin;
