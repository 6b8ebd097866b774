-- The advisory lock key of an in-database run: one class for Batches, one for Modules.

CREATE OR REPLACE FUNCTION omd._session_lock_key(
    p_instance_type text,
    p_instance_id bigint
)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE p_instance_type WHEN 'BATCH' THEN 7302502 ELSE 7302501 END * 1099511627776
        + p_instance_id % 1099511627776;
END;

COMMENT ON FUNCTION omd._session_lock_key IS
'Key of the session-level advisory lock that an in-database run holds. p_instance_type: BATCH or '
'MODULE. No locks taken.';
REVOKE ALL ON FUNCTION omd._session_lock_key FROM PUBLIC;
