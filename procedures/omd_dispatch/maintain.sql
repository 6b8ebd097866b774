-- Every worker calls it each second, and one of them does the work. It is bounded, so that no
-- transaction of it is long. It runs with the rights of the caller, who reads the sources of
-- schedules.

CREATE OR REPLACE PROCEDURE omd_dispatch.maintain(
    INOUT p_reclaimed bigint DEFAULT NULL,
    INOUT p_fired bigint DEFAULT NULL,
    INOUT p_more boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $maintain$
BEGIN
    p_reclaimed := 0;
    p_fired := 0;
    p_more := FALSE;
    IF NOT pg_try_advisory_xact_lock(7302501, 0) THEN
        RETURN;
    END IF;
    p_reclaimed := omd_dispatch._maintain_members(1000);
    p_fired := omd_dispatch._fire_schedules(100);
    p_more := omd_dispatch._maintain_suspensions(10000)
        OR p_reclaimed >= 1000
        OR EXISTS (
            SELECT FROM omd_dispatch.task_schedule AS s WHERE s.next_time <= clock_timestamp()
        );
END
$maintain$;

COMMENT ON PROCEDURE omd_dispatch.maintain IS
'Does one bounded round of what no worker does for itself: it removes dead members and settles '
'their claims, fires schedules, and goes on with suspensions. Returns p_reclaimed, how many claims'
' it has settled, p_fired, how many tasks schedules have created, and p_more, whether there is '
'more to do. While another session is at it, nothing is done. Errors: OM014: the isolation level '
'is not read committed. Locks: what it changes.';
REVOKE ALL ON PROCEDURE omd_dispatch.maintain FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_dispatch.maintain TO omd_runner, omd_admin;
