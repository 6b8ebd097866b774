-- The function is plain SQL that the planner inlines into the statement of the caller, because
-- every run passes here twice. The code is cut, since a payload must stay below 8000 bytes.

CREATE OR REPLACE FUNCTION omd._notify_event(
    p_instance_type text,
    p_instance_id bigint,
    p_code text,
    p_batch_instance_id bigint,
    p_execution_status_code text,
    p_processing_indicator text,
    p_next_run_indicator text,
    p_reason_code text,
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
                '{"instance_type": "%s", "instance_id": %s, "code": %s, "batch_instance_id": %s, '
                '"execution_status_code": "%s", "processing_indicator": "%s", '
                '"next_run_indicator": "%s", "reason_code": %s, "at": %s}',
                p_instance_type,
                p_instance_id,
                to_json(left(p_code, 1000)),
                p_batch_instance_id,
                p_execution_status_code,
                p_processing_indicator,
                p_next_run_indicator,
                coalesce('"' || p_reason_code || '"', 'null'),
                to_json(p_at)
            )
        ) IS NOT NULL;
END;

COMMENT ON FUNCTION omd._notify_event IS
'Sends a state of an instance to the channel omd_event as JSON: instance_type (Batch Instance or '
'Module Instance), instance_id, code (its first 1000 characters), batch_instance_id (of a Batch '
'Instance its parent, 0 for none), execution_status_code, processing_indicator, '
'next_run_indicator, reason_code and at. It returns TRUE. With the setting omd.notify_events off '
'it sends nothing, nor while the queue of notifications is more than half full: notifications of '
'all sessions pass one lock at the commit, which costs time on a server with thousands of runs per '
'second. Every role that may connect may listen, and may also send to the channel, so take an '
'event as a reason to look. Locks: the queue of notifications, at the commit.';
REVOKE ALL ON FUNCTION omd._notify_event FROM PUBLIC;
