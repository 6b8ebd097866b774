-- The caller looks with his own rights at what this names.

CREATE OR REPLACE FUNCTION omd_provenance._family(
    p_table oid
)
RETURNS oid[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $family$
BEGIN
    RETURN omd.table_family(p_table);
END
$family$;

COMMENT ON FUNCTION omd_provenance._family IS
'Returns what omd.table_family returns for p_table. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._family TO omd_admin;
