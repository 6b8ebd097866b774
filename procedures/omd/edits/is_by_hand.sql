-- Programs call some of the routines that people call too, and each of their calls would be an
-- event: so only who says a reason leaves one.

CREATE OR REPLACE FUNCTION omd.is_by_hand()
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(current_setting('omd.reason', TRUE), '') <> '';
END;

COMMENT ON FUNCTION omd.is_by_hand IS
'For rooms: Returns whether the session says why it does what it does: the setting omd.reason is '
'set. Locks: none.';
