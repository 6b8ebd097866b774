-- A setting turns notifications off, as for omd_event: they are convenient, but the commits of all
-- sessions that notify pass one lock.

CREATE OR REPLACE FUNCTION omd_lineage._notify_topic(
    p_topic text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $notify_topic$
BEGIN
    IF coalesce(current_setting('omd.notify_events', TRUE), '') <> 'off' THEN
        PERFORM omd.notify('omd_lineage', t.topic_id::text)
        FROM omd_lineage.topic AS t
        WHERE t.topic = p_topic;
    END IF;
END
$notify_topic$;

COMMENT ON FUNCTION omd_lineage._notify_topic IS
'Sends the topic_id of the topic p_topic to the sessions that LISTEN to the channel omd_lineage, '
'unless the setting omd.notify_events is off: any login may listen, and a number says nothing. '
'Locks: the queue of notifications, at the commit.';
