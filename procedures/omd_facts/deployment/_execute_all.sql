-- One phase of a deployment: its statements are known only when the phase before is done.

CREATE OR REPLACE FUNCTION omd_facts._execute_all(
    p_interface_code text,
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
    v_detail text;
BEGIN
    FOREACH v_statement IN ARRAY p_statements LOOP
        BEGIN
            EXECUTE v_statement;
        EXCEPTION
            -- A user's view on one that is made anew, or values that are not unique.
            WHEN dependent_objects_still_exist OR unique_violation THEN
                -- What depends is named in the detail; that of values has values.
                GET STACKED DIAGNOSTICS v_detail = PG_EXCEPTION_DETAIL;
                PERFORM omd.raise_error(
                    'OM252',
                    jsonb_build_object(
                        'interface_code', p_interface_code,
                        'object', left(v_statement, 200),
                        'problem', concat_ws(
                            ': ', SQLERRM,
                            CASE WHEN SQLSTATE = '2BP01' THEN nullif(v_detail, '') END
                        )
                    )
                );
        END;
    END LOOP;
    RETURN p_statements;
END
$execute_all$;

COMMENT ON FUNCTION omd_facts._execute_all IS
'Executes p_statements for the interface p_interface_code and returns them. Errors: OM252: a view '
'of a user is in the way, or values are not unique. Locks: what they take.';
