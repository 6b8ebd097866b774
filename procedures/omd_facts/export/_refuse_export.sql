-- Queries of exports call it where a value can't go into a file; they run with the rights of their
-- reader.

CREATE OR REPLACE FUNCTION omd_facts._refuse_export(
    p_entity_code text,
    p_attribute_code text,
    p_value text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $refuse_export$
BEGIN
    PERFORM omd.raise_error(
        'OM162',
        jsonb_build_object(
            'entity_code', p_entity_code, 'attribute', p_attribute_code, 'value', p_value
        )
    );
    RETURN NULL; -- the error was raised
END
$refuse_export$;

COMMENT ON FUNCTION omd_facts._refuse_export IS
'Raises OM162 for the value p_value of the attribute p_attribute_code of p_entity_code. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_facts._refuse_export TO omd_data_reader;
