-- The number of tasks comes from the index of claimed tasks.

CREATE OR REPLACE VIEW omd_report.dispatch_backends AS
SELECT
    b.backend_type,
    b.backend_id,
    b.registration_time,
    b.ttl,
    omd_dispatch._lives(b.registration_time, b.ttl, statement_timestamp()) AS is_alive,
    p.position,
    coalesce(c.claimed, 0) AS claimed,
    b.slots,
    4 + coalesce(b.slots, 1) AS sessions
FROM omd_dispatch.backend_registration AS b
LEFT JOIN (
    SELECT
        t.claimed_by,
        count(*) AS claimed
    FROM omd_dispatch._tasks_of_status('CLAIMED') AS t
    GROUP BY t.claimed_by
) AS c ON b.backend_id = c.claimed_by
LEFT JOIN LATERAL omd_dispatch.backend_position(b.backend_type, b.backend_id) AS p ON TRUE;

COMMENT ON VIEW omd_report.dispatch_backends IS 'Every registered worker.';
COMMENT ON COLUMN omd_report.dispatch_backends.backend_type IS
'The group of workers that it belongs to.';
COMMENT ON COLUMN omd_report.dispatch_backends.backend_id IS
'The worker.';
COMMENT ON COLUMN omd_report.dispatch_backends.registration_time IS
'When it renewed its registration last.';
COMMENT ON COLUMN omd_report.dispatch_backends.ttl IS
'How long it lives without a renewal.';
COMMENT ON COLUMN omd_report.dispatch_backends.is_alive IS
'FALSE: it is dead, and the next maintain removes it.';
COMMENT ON COLUMN omd_report.dispatch_backends.position IS
'Its place among the living backends of its group, from 0; NULL when it is dead.';
COMMENT ON COLUMN omd_report.dispatch_backends.claimed IS
'How many tasks it has claimed.';
COMMENT ON COLUMN omd_report.dispatch_backends.slots IS
'How many tasks it runs at once; NULL: it has not said so.';
COMMENT ON COLUMN omd_report.dispatch_backends.sessions IS
'How many sessions of the server it needs: four, and one for each task.';
