-- The function is plain SQL that the planner inlines into the statement of the caller, because
-- every run passes here twice. Any login may listen, so it says neither which Module nor what
-- state: who may read that looks.

CREATE OR REPLACE FUNCTION omd._tell_instance(
    p_instance_type text,
    p_instance_id bigint,
    p_at timestamptz
)
RETURNS boolean
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        coalesce(current_setting('omd.notify_events', TRUE), '') = 'off'
        OR pg_notification_queue_usage() > 0.5
        OR pg_notify(
            'omd_event',
            format(
                '{"instance_type": "%s", "instance_id": %s, "at": %s}',
                p_instance_type,
                p_instance_id,
                to_json(p_at)
            )
        ) IS NOT NULL;
END;

COMMENT ON FUNCTION omd._tell_instance IS
'Says on the channel omd_event that an instance has another state, as JSON: instance_type (Batch '
'Instance or Module Instance), instance_id, and at, since when. It returns TRUE. With the setting '
'omd.notify_events off it sends nothing, nor while the queue of notifications is more than half '
'full: notifications of all sessions pass one lock at the commit, which costs time on a server '
'with thousands of runs per second. Every role that may connect may listen, and may also send to '
'the channel: so it has no code and no state, and is a reason to look. Locks: the queue of '
'notifications, at the commit.';
