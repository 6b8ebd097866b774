-- The workers of the original go on there, under the same names, so what they hold is not theirs
-- here: maintenance settles claims that have no backend. Nothing begins by itself until somebody
-- makes it active.

CREATE OR REPLACE FUNCTION omd_dispatch._hear_server(
    p_as text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hear_server$
BEGIN
    IF p_as = 'COPY' THEN
        UPDATE omd_dispatch.task_schedule AS s SET inactive_indicator = 'Y'
        WHERE s.inactive_indicator = 'N';
        UPDATE omd_dispatch.task_source AS s SET inactive_indicator = 'Y'
        WHERE s.inactive_indicator = 'N';
        DELETE FROM omd_dispatch.backend_registration;
    END IF;
END
$hear_server$;

COMMENT ON FUNCTION omd_dispatch._hear_server IS
'Makes all schedules and sources of tasks inactive and removes all backends where p_as is COPY. '
'Locks: these rows.';
