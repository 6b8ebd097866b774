-- A session that reads a source may end meanwhile; therefore the schedule is marked in a
-- transaction of its own. Nothing is lost when that commit is, so that it does not wait for the
-- disk.

CREATE OR REPLACE PROCEDURE omd_dispatch._fire(
    p_schedule_code text,
    p_limit integer,
    INOUT p_fired bigint,
    INOUT p_skipped bigint,
    INOUT p_is_cancelled boolean
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $fire$
DECLARE
    v_can_commit pg_catalog.bool;
    v_schedule omd_dispatch.task_schedule;
    v_answer pg_catalog.record;
BEGIN
    CALL omd.ask_whether_to_commit(v_can_commit);
    p_fired := 0;
    p_skipped := 0;
    p_is_cancelled := FALSE;
    v_schedule := omd_dispatch._lock_schedule(p_schedule_code, FALSE);
    IF v_can_commit AND v_schedule.source IS NOT NULL THEN
        PERFORM pg_catalog.set_config('synchronous_commit', 'off', TRUE);
        COMMIT;
        v_schedule := omd_dispatch._lock_schedule(p_schedule_code, TRUE);
    END IF;
    IF v_schedule.schedule_code IS NOT NULL THEN
        v_answer := omd_dispatch._fire_schedule(v_schedule, p_limit);
        p_fired := v_answer.p_created;
        p_skipped := v_answer.p_skipped;
        p_is_cancelled := v_answer.p_is_cancelled;
    END IF;
END
$fire$;

COMMENT ON PROCEDURE omd_dispatch._fire IS
'Does what fire_schedule does; a schedule that is gone is passed over. Errors: OM014. Locks: the '
'schedule; the keys of the tasks.';
GRANT EXECUTE ON PROCEDURE omd_dispatch._fire TO omd_runner, omd_admin;
