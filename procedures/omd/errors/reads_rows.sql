-- Views and the routines of readers ask here who may see values of business rows. A routine with
-- the rights of the owner has lost its caller from current_user; the role that was set, or the
-- login, still tells it.

CREATE OR REPLACE FUNCTION omd.reads_rows()
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN current_user <> 'omd_owner' THEN pg_has_role('omd_data_reader', 'USAGE')
            WHEN current_setting('role') = 'omd_owner' THEN TRUE
            WHEN current_setting('role') <> 'none'
                THEN pg_has_role(current_setting('role')::name, 'omd_data_reader', 'USAGE')
            ELSE pg_has_role(session_user, 'omd_data_reader', 'USAGE')
        END;
END;

COMMENT ON FUNCTION omd.reads_rows IS
'For rooms: Returns whether the caller may see values of business rows: whether it has the role '
'omd_data_reader. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.reads_rows TO omd_reader;
