-- Interfaces and agreements have schemas of their own, and nobody else's is taken.

CREATE OR REPLACE PROCEDURE omd_delivery._make_schema(
    p_schema_name text,
    p_comment text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $make_schema$
DECLARE
    v_is_ours boolean;
BEGIN
    SELECT n.nspowner = 'omd_owner'::regrole INTO v_is_ours
    FROM pg_namespace AS n
    WHERE n.nspname = p_schema_name;
    IF v_is_ours THEN
        RETURN;
    ELSIF FOUND THEN
        PERFORM omd.raise_error('OM233', jsonb_build_object('schema_name', p_schema_name));
    ELSIF NOT has_database_privilege('omd_owner', current_database(), 'CREATE') THEN
        PERFORM omd.raise_error(
            'OM234',
            jsonb_build_object(
                'schema_name', p_schema_name,
                'database_name', current_database(),
                'database_ident', quote_ident(current_database())
            )
        );
    END IF;
    EXECUTE format(
        'CREATE SCHEMA %1$I; COMMENT ON SCHEMA %1$I IS %2$L;'
        ' GRANT USAGE ON SCHEMA %1$I TO omd_data_reader',
        p_schema_name, p_comment
    );
END
$make_schema$;

COMMENT ON PROCEDURE omd_delivery._make_schema IS
'Makes the schema p_schema_name of business rows with the comment p_comment, unless it is there. '
'Errors: OM233: it belongs to somebody else; OM234: omd_owner may not create schemas in this '
'database. Locks: none.';
