-- Who waits for runs must know which of them live, and which of them the database performs.

CREATE OR REPLACE FUNCTION omd.runs_at_work(
    p_module_array integer[]
)
RETURNS TABLE (
    module_instance_id bigint,
    module_id integer,
    module_code text,
    is_dead boolean,
    is_in_database boolean,
    backend_pid integer
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
AS $runs_at_work$
BEGIN
    RETURN QUERY
    SELECT
        mi.module_instance_id,
        mi.module_id,
        m.module_code,
        omd._cause_of_death(
            mi.lease_expires_at, mi.is_session_bound, mi.backend_pid, mi.statement_start,
            mi.processing_indicator, mi.batch_instance_id
        ) IS NOT NULL,
        mi.is_session_bound OR m.engine_code IS NOT DISTINCT FROM 'POSTGRES',
        CASE WHEN mi.is_session_bound THEN mi.backend_pid END
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m USING (module_id)
    WHERE mi.execution_status_code = 'E'
        AND mi.module_id = ANY(p_module_array)
    ORDER BY mi.module_instance_id;
END
$runs_at_work$;

COMMENT ON FUNCTION omd.runs_at_work IS
'For rooms: Returns the executing instances of the Modules p_module_array: whether each is dead, '
'and whether the database performs it, by which backend (NULL: not known). Locks: none.';
