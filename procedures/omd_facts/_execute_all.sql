-- One phase of a deployment: its statements are known only when the phase before is done.

CREATE OR REPLACE FUNCTION omd_facts._execute_all(
    p_statements text[]
)
RETURNS text[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $execute_all$
DECLARE
    v_statement text;
BEGIN
    FOREACH v_statement IN ARRAY p_statements LOOP
        EXECUTE v_statement;
    END LOOP;
    RETURN p_statements;
END
$execute_all$;

COMMENT ON FUNCTION omd_facts._execute_all IS
'Executes p_statements and returns them. Locks: what they take.';
REVOKE ALL ON FUNCTION omd_facts._execute_all FROM PUBLIC;
