-- It reads the catalogue only, so nobody needs a right on the table.

CREATE OR REPLACE FUNCTION omd.target_column_type(
    p_table_code text,
    p_column text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT format_type(a.atttypid, a.atttypmod)
    FROM pg_attribute AS a
    WHERE
        a.attrelid = omd.target_relation(p_table_code)
        AND a.attname::text = p_column
        AND a.attnum > 0
        AND NOT a.attisdropped;
END;

COMMENT ON FUNCTION omd.target_column_type IS
'For rooms: Returns the type of the column p_column of the table p_table_code (schema.table) in '
'this database; NULL when there is none. Locks: none.';
