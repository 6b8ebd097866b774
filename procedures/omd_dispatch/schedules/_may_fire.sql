-- The occurrence that has failed waits for its time; another one, which an administrator may have
-- written meanwhile, does not.

CREATE OR REPLACE FUNCTION omd_dispatch._may_fire(
    p_schedule omd_dispatch.task_schedule,
    p_now timestamptz
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        (p_schedule).next_time <= p_now
        AND (
            (p_schedule).retry_time IS NULL
            OR (p_schedule).retry_time <= p_now
            OR (p_schedule).failed_time <> (p_schedule).next_time
        );
END;

COMMENT ON FUNCTION omd_dispatch._may_fire IS
'Returns whether p_schedule is due at p_now, for the first time or again after a failure. Locks: '
'none.';
