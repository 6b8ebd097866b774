-- Read at most a tenth of the time: the next time is ten times as long after the beginning as it
-- took.

CREATE OR REPLACE FUNCTION omd_dispatch._rests_until(
    p_source omd_dispatch.task_source
)
RETURNS timestamptz
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        greatest(
            (p_source).retry_time,
            (p_source).last_fired_at + (p_source).took * 10,
            '-infinity'
        );
END;

COMMENT ON FUNCTION omd_dispatch._rests_until IS
'Returns until when p_source is not read, after a failure and since reading takes time. Locks: '
'none.';
