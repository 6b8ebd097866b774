-- A room shows what its next run would read before there is a run.

CREATE OR REPLACE FUNCTION omd.load_window_start(
    p_module_id integer,
    OUT p_start_value timestamptz,
    OUT p_start_id bigint
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $load_window_start$
BEGIN
    SELECT w.end_value, w.end_id INTO p_start_value, p_start_id
    FROM omd.last_window(p_module_id) AS w;
    IF NOT FOUND THEN
        -- No window counts: this one starts where the oldest one started, which is the open start,
        -- unless a purge deleted the windows before it.
        SELECT nullif(sc.start_value, '-infinity'), sc.start_id INTO p_start_value, p_start_id
        FROM omd.source_control AS sc
        WHERE sc.module_id = p_module_id
        ORDER BY sc.module_instance_id
        LIMIT 1;
    END IF;
END
$load_window_start$;

COMMENT ON FUNCTION omd.load_window_start IS
'For rooms: Returns where the next load window of the Module p_module_id starts: where the '
'newest one that counts has ended; NULL: at the very beginning. Locks: none.';
