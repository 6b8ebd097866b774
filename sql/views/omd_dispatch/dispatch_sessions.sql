-- A fleet that needs more sessions than there are stops others, and itself, when all is at work;
-- who looks while all is quiet does not see that.

CREATE OR REPLACE VIEW omd_report.dispatch_sessions AS
SELECT
    f.workers,
    f.slots,
    f.sessions,
    s.available,
    s.max_connections,
    f.sessions > s.available AS is_too_many
FROM (
    SELECT
        count(*) AS workers,
        coalesce(sum(b.slots), 0) AS slots,
        coalesce(sum(b.sessions), 0) AS sessions
    FROM omd_report.dispatch_backends AS b
    WHERE b.is_alive
) AS f
CROSS JOIN (
    SELECT
        m.max_connections,
        m.max_connections
        - current_setting('superuser_reserved_connections')::integer
        - coalesce(current_setting('reserved_connections', TRUE)::integer, 0) AS available
    FROM (SELECT current_setting('max_connections')::integer AS max_connections) AS m
) AS s;

COMMENT ON VIEW omd_report.dispatch_sessions IS
'For the driver: '
'One row: how many sessions of the server all living workers need, and how many there are.';
COMMENT ON COLUMN omd_report.dispatch_sessions.workers IS 'How many workers live.';
COMMENT ON COLUMN omd_report.dispatch_sessions.slots IS 'How many tasks they run at once.';
COMMENT ON COLUMN omd_report.dispatch_sessions.sessions IS
'How many sessions they need when all are at work. A source of tasks that takes longer than half a '
'second takes one more meanwhile.';
COMMENT ON COLUMN omd_report.dispatch_sessions.available IS
'How many sessions the server has for roles without privileges.';
COMMENT ON COLUMN omd_report.dispatch_sessions.max_connections IS
'Its setting max_connections.';
COMMENT ON COLUMN omd_report.dispatch_sessions.is_too_many IS
'They need more than there are: raise max_connections, or run fewer workers or tasks at once.';
