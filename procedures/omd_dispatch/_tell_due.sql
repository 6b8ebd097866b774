-- Workers listen for their group, and look for tasks when it is named. The number makes sessions
-- look from the start that remember where their last claim ended.

CREATE OR REPLACE FUNCTION omd_dispatch._tell_due(
    p_group text
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT nextval('omd_dispatch.due_again');
    SELECT pg_notify('omd_dispatch', p_group);
END;

COMMENT ON FUNCTION omd_dispatch._tell_due IS
'Tells the workers of the group p_group that a task may be due. Locks: the queue of notifications,'
' at the commit.';
REVOKE ALL ON FUNCTION omd_dispatch._tell_due FROM PUBLIC;
