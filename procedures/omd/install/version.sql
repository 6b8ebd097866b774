-- Who connects asks it, before it knows what else this database has.

CREATE OR REPLACE FUNCTION omd.version()
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT omd.product_version();
END;

COMMENT ON FUNCTION omd.version IS
'Returns the version of OMD in this database. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.version TO omd_reader;
