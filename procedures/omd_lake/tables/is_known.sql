-- A Delta table, or one of another catalogue, is known by its commits.

CREATE OR REPLACE FUNCTION omd_lake.is_known(
    p_table_code text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $is_known$
BEGIN
    RETURN omd_lake._is_catalogued(p_table_code) OR EXISTS (
        SELECT FROM omd_lake.table_commit AS c
        WHERE c.table_code = p_table_code
    );
END
$is_known$;

COMMENT ON FUNCTION omd_lake.is_known IS
'For rooms: Returns whether the lake table p_table_code (in its one spelling) is in the catalogue '
'or has a commit. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lake.is_known TO omd_runner, omd_admin;
