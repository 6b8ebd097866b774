-- A table may get further columns later, so what is granted is found in the catalogue.

CREATE OR REPLACE PROCEDURE omd.hide_columns(
    p_table regclass,
    p_columns text[]
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hide_columns$
DECLARE
    v_shown text;
BEGIN
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO v_shown
    FROM pg_attribute AS a
    WHERE a.attrelid = p_table AND a.attnum > 0 AND NOT a.attisdropped
        AND a.attname <> ALL(p_columns);
    EXECUTE format(
        'REVOKE SELECT ON %1$s FROM omd_reader; GRANT SELECT (%2$s) ON %1$s TO omd_reader;'
        ' GRANT SELECT ON %1$s TO omd_data_reader',
        p_table, v_shown
    );
END
$hide_columns$;

COMMENT ON PROCEDURE omd.hide_columns IS
'For rooms: Grants SELECT on p_table to omd_data_reader, and all columns but p_columns to '
'omd_reader. Locks: none.';
