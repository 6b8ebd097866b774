-- A block that begins before it can't be shown again, but for one from the beginning.

CREATE OR REPLACE FUNCTION omd_facts.purged_upto(
    p_source_code text
)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT i.purged_change_id
    FROM omd_facts.interface AS i
    WHERE p_source_code = 'facts.' || i.interface_code;
END;

COMMENT ON FUNCTION omd_facts.purged_upto IS
'For rooms: Returns the newest change of the source p_source_code whose keys are purged (0: none); '
'NULL: it is no source of changes. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_facts.purged_upto TO omd_admin;
