-- Tasks that it has created stay.

CREATE OR REPLACE PROCEDURE omd_dispatch.remove_schedule(
    p_schedule_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $remove_schedule$
BEGIN
    PERFORM omd_dispatch._require_schedule(p_schedule_code);
    DELETE FROM omd_dispatch.task_schedule AS s WHERE s.schedule_code = p_schedule_code;
END
$remove_schedule$;

COMMENT ON PROCEDURE omd_dispatch.remove_schedule IS
'Removes the schedule p_schedule_code; tasks that it has created stay. Errors: OM005: '
'p_schedule_code is NULL; OM013: it is blank; OM074: it is unknown. Locks: the schedule.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.remove_schedule TO omd_admin;
