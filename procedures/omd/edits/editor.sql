-- After SET ROLE the current role says little about the person, so both roles are named.

CREATE OR REPLACE FUNCTION omd.editor()
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        session_user || CASE
            WHEN current_setting('role') NOT IN ('none', session_user::text)
                THEN ' as ' || current_setting('role')
            ELSE ''
        END;
END;

COMMENT ON FUNCTION omd.editor IS
'For rooms: Returns who edits: the role that connected and, after SET ROLE, the role that it has '
'taken on. Locks: none.';
