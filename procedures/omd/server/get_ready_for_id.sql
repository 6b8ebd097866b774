-- After a crash a commit that did not wait for the disk is gone, and its ID would be given again.

CREATE OR REPLACE FUNCTION omd.get_ready_for_id()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $get_ready_for_id$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', TRUE);
    END IF;
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd._settle_server();
    END IF;
END
$get_ready_for_id$;

COMMENT ON FUNCTION omd.get_ready_for_id IS
'For rooms: call it before an ID is given, where omd.unready_for_id has a row. It settles the '
'server, and lets the commit of this transaction wait for the disk. Locks: as '
'settle_server.';
