-- The part of the kinds SQL and JOB in omd.room_hook: one run does all that there is.

CREATE OR REPLACE PROCEDURE omd.end_run(
    p_module_instance_id bigint,
    p_execution_status_code text,
    INOUT p_is_more boolean
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $end_run$
BEGIN
    p_is_more := FALSE;
END
$end_run$;

COMMENT ON PROCEDURE omd.end_run IS
'For rooms: Says that nothing is left after the run p_module_instance_id, which has ended with '
'p_execution_status_code: p_is_more is false. Locks: none.';
GRANT EXECUTE ON PROCEDURE omd.end_run TO omd_runner;
