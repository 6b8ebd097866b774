-- The position of a Module that nobody reads is not kept, since each end would pay for it. So it
-- begins at the newest run that is known when somebody comes to read.

CREATE OR REPLACE FUNCTION omd.declare_runs(
    p_module_id integer,
    p_table_array text[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $declare_runs$
DECLARE
    v_source_code CONSTANT text := 'runs.' || p_module_id;
    v_newest record;
BEGIN
    UPDATE omd.module AS m SET is_source = TRUE
    WHERE m.module_id = p_module_id AND NOT m.is_source;
    PERFORM omd.declare_source(
        v_source_code,
        'RUNS',
        ARRAY(
            SELECT t.table_code FROM omd.source_table AS t WHERE t.source_code = v_source_code
            UNION
            SELECT n.table_code FROM unnest(p_table_array) AS n (table_code)
        )
    );
    -- A run that executes may end with a look at the Module from before this commit, and would move
    -- nothing. So its end counts from now on. None begins meanwhile, since the Module is locked.
    SELECT
        mi.module_instance_id,
        coalesce(mi.end_datetime, clock_timestamp()) AS end_datetime
    INTO v_newest
    FROM omd.module_instance AS mi
    -- Not =, with which the planner could walk the primary key past other Modules.
    WHERE mi.module_id >= p_module_id
        AND mi.module_id <= p_module_id
        AND mi.execution_status_code IN ('S', 'E')
    ORDER BY mi.module_id DESC, mi.module_instance_id DESC
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.move_source(v_source_code, v_newest.end_datetime, v_newest.module_instance_id);
    END IF;
END
$declare_runs$;

COMMENT ON FUNCTION omd.declare_runs IS
'For rooms: Makes the runs of the Module p_module_id a source of the kind RUNS, by which the '
'tables p_table_array are read, besides those by which it is read already. From now on the end of '
'each run that wrote rows moves its position. Locks: the Module row; the source.';
