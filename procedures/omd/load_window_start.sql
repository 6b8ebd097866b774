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
DECLARE
    v_window omd.source_control;
BEGIN
    -- A window counts when its run has succeeded and the window was not withdrawn. One that was taken
    -- again after a recall may lie before others, so it counts by its place. There are few of these.
    SELECT w.* INTO v_window
    FROM (
        (
            SELECT sc.*
            FROM omd.source_control AS sc
            INNER JOIN omd.module_instance AS mi USING (module_instance_id)
            WHERE sc.module_id = p_module_id
                AND NOT sc.is_taken_back
                AND mi.execution_status_code = 'S'
                AND NOT EXISTS (
                    SELECT FROM omd.window_return AS a
                    WHERE a.module_instance_id = sc.module_instance_id
                )
            ORDER BY sc.module_instance_id DESC
            LIMIT 1
        )
        UNION ALL
        SELECT sc.*
        FROM omd.window_return AS a
        INNER JOIN omd.source_control AS sc USING (module_instance_id)
        INNER JOIN omd.module_instance AS mi USING (module_instance_id)
        WHERE a.module_id = p_module_id
            AND NOT sc.is_taken_back
            AND mi.execution_status_code = 'S'
    ) AS w
    ORDER BY w.end_value DESC NULLS LAST, w.end_id DESC NULLS LAST
    LIMIT 1;
    IF FOUND THEN
        p_start_value := v_window.end_value;
        p_start_id := v_window.end_id;
    ELSE
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
REVOKE ALL ON FUNCTION omd.load_window_start FROM PUBLIC;
