-- Rooms name the installation outside, and none reads the table of another.

CREATE OR REPLACE FUNCTION omd.installation_id()
RETURNS uuid
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT i.installation_id
    FROM omd.installation AS i;
END;

COMMENT ON FUNCTION omd.installation_id IS
'For rooms: Returns the identity of this installation. Locks: none.';
