-- Most callers need a table whose namespace is registered.

CREATE OR REPLACE FUNCTION omd_lake._location(
    p_table_code text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $location$
DECLARE
    v_namespace text := (omd_lake._catalogue_name(p_table_code)).p_namespace;
    v_location text := omd_lake._default_location(p_table_code);
BEGIN
    IF v_location IS NULL AND v_namespace IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM220',
            jsonb_build_object('namespace', quote_ident(v_namespace), 'table_code', p_table_code)
        );
    END IF;
    RETURN v_location;
END
$location$;

COMMENT ON FUNCTION omd_lake._location IS
'Returns the folder of the table p_table_code: that of its namespace and its name; NULL for one of'
' another catalogue. Errors: OM220. Locks: none.';
