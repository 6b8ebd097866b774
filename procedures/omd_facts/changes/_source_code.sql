-- The position of an interface has the name of the Module that loads it.

CREATE OR REPLACE FUNCTION omd_facts._source_code(
    p_interface_id integer
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT 'facts.' || i.interface_code
    FROM omd_facts.interface AS i
    WHERE i.interface_id = p_interface_id;
END;

COMMENT ON FUNCTION omd_facts._source_code IS
'Returns the source (omd.source) of the interface p_interface_id. Locks: none.';
