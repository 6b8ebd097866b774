-- Who may purge may not write to the event log.

CREATE OR REPLACE FUNCTION omd_event._log_purge(
    p_deleted bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $log_purge$
BEGIN
    PERFORM omd_event._log_edit('PURGE', format('%s published events are purged', p_deleted));
END
$log_purge$;

COMMENT ON FUNCTION omd_event._log_purge IS
'Writes the event of a purge of events. Locks: none.';
REVOKE ALL ON FUNCTION omd_event._log_purge FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_event._log_purge TO omd_admin;
