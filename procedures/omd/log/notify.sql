-- Any login can fill the queue of notifications, and a commit with one fails when it is full.
-- Nothing depends on them: who waits looks by itself. It is plain SQL, which the planner inlines.

CREATE OR REPLACE FUNCTION omd.notify(
    p_channel text,
    p_payload text
)
RETURNS boolean
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        pg_notification_queue_usage() > 0.5
        OR pg_notify(p_channel, p_payload) IS NOT NULL;
END;

COMMENT ON FUNCTION omd.notify IS
'For rooms: Sends p_payload to the channel p_channel, unless the queue of notifications is more '
'than half full. It returns TRUE. Every role that may connect may listen, and may also send. '
'Locks: the queue of notifications, at the commit.';
