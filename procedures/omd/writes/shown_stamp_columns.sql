-- A view may show the stamps of the tables under it.

CREATE OR REPLACE FUNCTION omd.shown_stamp_columns(
    p_table_code text
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $shown_stamp_columns$
DECLARE
    v_columns text[] := '{}'::text[];
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY omd.base_tables(p_table_code) LOOP
        v_columns := v_columns || omd.stamp_columns(v_table);
    END LOOP;
    RETURN v_columns;
END
$shown_stamp_columns$;

COMMENT ON FUNCTION omd.shown_stamp_columns IS
'For rooms: Returns the columns of the table or view p_table_code that may name the run which '
'wrote a row: omd.stamp_columns of each table under it. Locks: none.';
