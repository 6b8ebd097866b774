-- Every routine that takes a table calls this, so all of them keep and find it under one spelling.

CREATE OR REPLACE FUNCTION omd_lake._spell_table(
    p_table_code text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $spell_table$
DECLARE
    v_table_code text;
BEGIN
    PERFORM omd.require_name('p_table_code', p_table_code);
    v_table_code := omd.spell_table(p_table_code);
    IF (cardinality(parse_ident(v_table_code)) BETWEEN 2 AND 3) IS NOT TRUE THEN
        PERFORM omd.raise_error(
            'OM009', jsonb_build_object('table_code', p_table_code, 'platform_code', 'SPARK')
        );
    END IF;
    RETURN v_table_code;
END
$spell_table$;

COMMENT ON FUNCTION omd_lake._spell_table IS
'Returns the table p_table_code (namespace.table, or catalog.schema.table of another catalogue) in'
' its one spelling. Errors: OM005, OM009, OM013. Locks: none.';
