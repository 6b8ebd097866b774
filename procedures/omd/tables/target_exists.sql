-- It reads the catalogue only, so nobody needs a right on the table.

CREATE OR REPLACE FUNCTION omd.target_exists(
    p_table_code text
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT omd.target_relation(p_table_code) IS NOT NULL;
END;

COMMENT ON FUNCTION omd.target_exists IS
'For rooms: Returns whether the table p_table_code (schema.table) exists in this database. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd.target_exists TO omd_reader;
