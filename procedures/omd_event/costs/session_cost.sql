-- The server adds up what a session does when its client waits, at most once in a second; here it
-- is asked to do so at the end of this statement. So the next one sees all that was done before.

CREATE OR REPLACE FUNCTION omd_event.session_cost()
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $session_cost$
BEGIN
    IF current_setting('server_version_num')::integer < 180000 THEN
        RETURN NULL;
    END IF;
    PERFORM pg_stat_force_next_flush();
    RETURN (
        SELECT
            jsonb_build_object(
                'pid', a.pid,
                'began', a.backend_start,
                'wal_bytes', w.wal_bytes,
                'wal_records', w.wal_records,
                'blocks_read', div(i.read_bytes, b.size),
                'blocks_hit', i.hits,
                'blocks_written', div(i.written_bytes, b.size)
            )
        FROM pg_stat_get_activity(pg_backend_pid()) AS a
        CROSS JOIN pg_stat_get_backend_wal(pg_backend_pid()) AS w
        CROSS JOIN (
            SELECT
                coalesce(sum(io.read_bytes), 0) AS read_bytes,
                coalesce(sum(io.hits), 0) AS hits,
                coalesce(sum(io.write_bytes), 0) + coalesce(sum(io.extend_bytes), 0)
                AS written_bytes
            FROM pg_stat_get_backend_io(pg_backend_pid()) AS io
            WHERE io.object IN ('relation', 'temp relation')
        ) AS i
        CROSS JOIN (SELECT current_setting('block_size')::numeric AS size) AS b
    );
END
$session_cost$;

COMMENT ON FUNCTION omd_event.session_cost IS
'For programs: '
'Returns what this session has cost the server since it began, as far as the server has added it '
'up: wal_bytes, wal_records, blocks_read, blocks_hit and blocks_written, with pid and began, which '
'name the session. What was done since is added up at the end of this statement. NULL before '
'PostgreSQL 18. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_event.session_cost TO omd_runner;
