-- What may be changed depends on whether there are facts.

CREATE OR REPLACE FUNCTION omd_facts._has_rows(
    p_schema_name text,
    p_table_name text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $has_rows$
DECLARE
    v_has_rows boolean := FALSE;
BEGIN
    IF to_regclass(format('%I.%I', p_schema_name, p_table_name)) IS NOT NULL THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM %I.%I)', p_schema_name, p_table_name)
        INTO v_has_rows;
    END IF;
    RETURN v_has_rows;
END
$has_rows$;

COMMENT ON FUNCTION omd_facts._has_rows IS
'Returns whether the table p_table_name in p_schema_name is there and has rows. Locks: none.';
