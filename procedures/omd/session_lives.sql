-- Does any session, this one included, hold the advisory lock of an in-database run?

CREATE OR REPLACE FUNCTION omd.session_lives(
    p_instance_type text,
    p_instance_id bigint
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
BEGIN ATOMIC
    SELECT EXISTS(
        SELECT FROM pg_locks AS l
        WHERE
            l.locktype = 'advisory'
            AND l.granted
            AND l.objsubid = 1
            AND l.database
            = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
            AND l.classid::bigint * 4294967296 + l.objid::bigint
            = omd._session_lock_key(p_instance_type, p_instance_id)
    );
END;

COMMENT ON FUNCTION omd.session_lives IS
'For rooms: Whether a session holds the advisory lock of an in-database run. p_instance_type: '
'BATCH or MODULE. Locks: none.';
REVOKE ALL ON FUNCTION omd.session_lives FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.session_lives TO omd_reader;
