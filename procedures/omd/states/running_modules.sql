-- One call answers for all Modules, since few runs execute at a time: an index holds them.

CREATE OR REPLACE FUNCTION omd.running_modules()
RETURNS TABLE (
    module_id integer,
    module_instance_id bigint,
    start_datetime timestamptz
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
AS $running_modules$
BEGIN
    RETURN QUERY
    SELECT
        mi.module_id,
        max(mi.module_instance_id),
        min(mi.start_datetime)
    FROM omd.module_instance AS mi
    WHERE mi.execution_status_code = 'E'
        AND omd._cause_of_death(
            mi.lease_expires_at, mi.is_session_bound, mi.backend_pid, mi.statement_start,
            mi.processing_indicator, mi.batch_instance_id
        ) IS NULL
    GROUP BY mi.module_id;
END
$running_modules$;

COMMENT ON FUNCTION omd.running_modules IS
'For rooms: Returns each Module that executes in a run that lives, with its newest such instance '
'and when the oldest began. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.running_modules TO omd_reader;
