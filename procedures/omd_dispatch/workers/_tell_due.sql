-- Workers listen for their group, and look for tasks when it is named. The number makes sessions
-- look from the start that remember where their last claim ended. As one expression it becomes a
-- part of the statement that calls it.

CREATE OR REPLACE FUNCTION omd_dispatch._tell_due(
    p_group text
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN nextval('omd_dispatch.due_again') > 0 AND pg_notification_queue_usage() <= 0.5
                THEN pg_notify('omd_dispatch', p_group)
        END;
END;

COMMENT ON FUNCTION omd_dispatch._tell_due IS
'Tells the workers of the group p_group that a task may be due; with its family, its partition '
'and its number after the group, that it is this new one, in the lane of the group. Locks: the '
'queue of notifications, at the commit.';
