-- The time zone of a session must not change what is sent.

CREATE OR REPLACE FUNCTION omd_event._instant(
    p_instant timestamptz
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT to_char(p_instant AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
END;

COMMENT ON FUNCTION omd_event._instant IS
'Returns an instant as RFC 3339 writes it, whatever the time zone of the session. Locks: none.';
