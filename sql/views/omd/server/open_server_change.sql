-- This is the only place that says which changes wait for an administrator.

CREATE OR REPLACE VIEW omd.open_server_change AS
SELECT
    c.server_change_id,
    c.noticed_at,
    c.kind,
    c.confirmed_as,
    c.confirmed_at,
    c.confirmed_by,
    c.reason
FROM omd.server_change AS c
WHERE c.confirmed_as IS NULL AND (c.kind <> 'FAILOVER' OR c.is_asked);

COMMENT ON VIEW omd.open_server_change IS
'For rooms: The changes of the server that nobody has confirmed, and for which workers wait.';
COMMENT ON COLUMN omd.open_server_change.server_change_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.open_server_change.noticed_at IS 'When it was noticed.';
COMMENT ON COLUMN omd.open_server_change.kind IS 'FAILOVER, MOVED or COPIED.';
COMMENT ON COLUMN omd.open_server_change.confirmed_as IS 'NULL: nobody has said.';
COMMENT ON COLUMN omd.open_server_change.confirmed_at IS 'NULL.';
COMMENT ON COLUMN omd.open_server_change.confirmed_by IS 'NULL.';
COMMENT ON COLUMN omd.open_server_change.reason IS 'NULL.';
