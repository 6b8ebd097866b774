-- A name as SQL writes it; the parameter and the answer tell which of several functions is
-- meant.

CREATE OR REPLACE FUNCTION omd_decision._function(
    p_content jsonb
)
RETURNS oid
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_name text := omd.quote_table(
        CASE WHEN jsonb_typeof(p_content) = 'string' THEN p_content #>> '{}' END, 'POSTGRES'
    );
BEGIN
    RETURN (
        SELECT p.oid
        FROM pg_proc AS p
        INNER JOIN pg_namespace AS n ON p.pronamespace = n.oid
        WHERE n.nspname = (parse_ident(v_name))[1]
            AND p.proname = (parse_ident(v_name))[2]
            AND p.prokind = 'f'
            AND p.proargtypes[0] = 'jsonb'::regtype
            AND p.pronargs = 1
            AND p.prorettype = 'jsonb'::regtype
            AND NOT p.proretset
    );
END
$function$;

COMMENT ON FUNCTION omd_decision._function IS
'Returns the function from jsonb to jsonb that the content p_content of a ruleset names; NULL '
'when there is none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._function TO omd_runner;
