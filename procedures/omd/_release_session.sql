-- Releases what bind_session took.

CREATE OR REPLACE FUNCTION omd._release_session(
    p_instance_type text,
    p_instance_id bigint
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_advisory_unlock(omd._session_lock_key(p_instance_type, p_instance_id));
END;

COMMENT ON FUNCTION omd._release_session IS
'Releases the session-level advisory lock of an in-database run that has ended. p_instance_type: '
'BATCH or MODULE.';
REVOKE ALL ON FUNCTION omd._release_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._release_session TO omd_runner;
