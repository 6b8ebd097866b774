-- A trigger logs the edit, so this procedure does not.

CREATE OR REPLACE PROCEDURE omd.register_table_type(
    p_table_type_code text,
    p_table_type_description text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_table_type$
DECLARE
    v_table_type_code text;
BEGIN
    PERFORM omd.require_name('p_table_type_code', p_table_type_code);
    SELECT t.table_type_code INTO v_table_type_code
    FROM omd.table_type AS t
    WHERE upper(t.table_type_code) = upper(p_table_type_code);

    INSERT INTO omd.table_type AS t (table_type_code, table_type_description)
    VALUES (
        coalesce(v_table_type_code, p_table_type_code), coalesce(p_table_type_description, '')
    )
    ON CONFLICT (table_type_code) DO UPDATE SET
        table_type_description = coalesce(p_table_type_description, t.table_type_description);
END
$register_table_type$;

COMMENT ON PROCEDURE omd.register_table_type IS
'Adds the table type p_table_type_code, or changes its description; NULL keeps the present one, '
'and the case of a known code does not matter. p_table_type_description: what such a table holds. '
'Errors: OM005, OM013. Locks: the table_type row.';
GRANT EXECUTE ON PROCEDURE omd.register_table_type TO omd_admin;
