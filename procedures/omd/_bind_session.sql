-- Binds an instance to this session: it lives as long as the session holds the advisory lock.

CREATE OR REPLACE FUNCTION omd._bind_session(
    p_instance_type text,
    p_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $bind_session$
BEGIN
    PERFORM pg_advisory_lock(omd._session_lock_key(p_instance_type, p_instance_id));
END
$bind_session$;

COMMENT ON FUNCTION omd._bind_session IS
'Takes the session-level advisory lock of an in-database run. p_instance_type: BATCH or MODULE. '
'Locks: that advisory lock, until the session ends.';
REVOKE ALL ON FUNCTION omd._bind_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._bind_session TO omd_runner;
