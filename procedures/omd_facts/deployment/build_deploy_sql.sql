-- The statements of a phase are known only after the phase before. So all is done and taken back.

CREATE OR REPLACE FUNCTION omd_facts.build_deploy_sql(
    p_interface_code text
)
RETURNS TABLE (step integer, statement text)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $build_deploy_sql$
DECLARE
    v_statements text[];
    v_token CONSTANT text := 'the deployment is taken back';
BEGIN
    BEGIN
        v_statements := omd_facts._deploy(p_interface_code);
        RAISE EXCEPTION USING ERRCODE = 'raise_exception', MESSAGE = v_token;
    EXCEPTION
        WHEN raise_exception THEN
            IF SQLERRM <> v_token THEN
                RAISE;
            END IF;
    END;
    RETURN QUERY
    SELECT s.n::integer, s.text
    FROM unnest(v_statements) WITH ORDINALITY AS s (text, n)
    ORDER BY s.n;
END
$build_deploy_sql$;

COMMENT ON FUNCTION omd_facts.build_deploy_sql IS
'Returns the statements (step, statement) that deploy would execute for the interface '
'p_interface_code now; it changes nothing. Errors: OM005, OM013, OM031, OM160, OM233, OM250, '
'OM252. Locks: as deploy, until the transaction ends.';
GRANT EXECUTE ON FUNCTION omd_facts.build_deploy_sql TO omd_admin;
