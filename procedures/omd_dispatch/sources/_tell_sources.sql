-- No group of workers has this name. A worker that hears it reads again what it is to listen to.

CREATE OR REPLACE FUNCTION omd_dispatch._tell_sources()
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT CASE WHEN pg_notification_queue_usage() <= 0.5 THEN pg_notify('omd_dispatch', '*') END;
END;

COMMENT ON FUNCTION omd_dispatch._tell_sources IS
'Tells all workers that a source of tasks has changed. Locks: the queue of notifications, at the '
'commit.';
