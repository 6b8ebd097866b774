-- It reads the catalogue only, so nobody needs a right on the table.

CREATE OR REPLACE FUNCTION omd._column_is_indexed(
    p_table_code text,
    p_column text
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT EXISTS(
        SELECT FROM pg_index AS x
        INNER JOIN pg_attribute AS a ON x.indrelid = a.attrelid AND x.indkey[0] = a.attnum
        WHERE
            x.indrelid = omd.target_relation(p_table_code)
            AND a.attname::text = p_column
            AND x.indpred IS NULL
            AND x.indisvalid
    );
END;

COMMENT ON FUNCTION omd._column_is_indexed IS
'Returns whether a valid index over all rows of the table p_table_code (schema.table) begins with '
'the column p_column. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._column_is_indexed TO omd_reader;
