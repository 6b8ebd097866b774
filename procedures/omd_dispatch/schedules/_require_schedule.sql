-- An unknown schedule is the same error for all who name one.

CREATE OR REPLACE FUNCTION omd_dispatch._require_schedule(
    p_schedule_code text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_schedule$
BEGIN
    PERFORM omd.require_name('p_schedule_code', p_schedule_code);
    IF NOT EXISTS (
        SELECT FROM omd_dispatch.task_schedule AS s WHERE s.schedule_code = p_schedule_code
    ) THEN
        PERFORM omd.raise_error(
            'OM074', jsonb_build_object('schedule_code', left(p_schedule_code, 60))
        );
    END IF;
END
$require_schedule$;

COMMENT ON FUNCTION omd_dispatch._require_schedule IS
'Raises an error unless the schedule p_schedule_code is registered. Errors: OM005, OM013, OM074. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._require_schedule TO omd_runner, omd_admin;
