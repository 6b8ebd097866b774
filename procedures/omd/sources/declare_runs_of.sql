-- A table may have several Modules, and a table that is no target may be known as one of a Module
-- already: a room has declared it.

CREATE OR REPLACE FUNCTION omd.declare_runs_of(
    p_table_code text
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $declare_runs_of$
BEGIN
    PERFORM omd.declare_runs(m.module_id, ARRAY[p_table_code])
    FROM omd.module AS m
    WHERE m.table_code = p_table_code
        AND m.platform_code = 'POSTGRES'
        AND NOT EXISTS (
            SELECT FROM omd.source_table AS t
            WHERE t.table_code = p_table_code AND t.source_code = 'runs.' || m.module_id
        )
    ORDER BY m.module_id;
    RETURN EXISTS (
        SELECT FROM omd.source_table AS t
        INNER JOIN omd.source AS s USING (source_code)
        WHERE t.table_code = p_table_code AND s.source_kind_code = 'RUNS'
    );
END
$declare_runs_of$;

COMMENT ON FUNCTION omd.declare_runs_of IS
'For rooms: Declares the runs of every Module whose target is the table p_table_code, since '
'somebody reads it by the time at which its rows were written. Returns whether a Module writes it. '
'Locks: the Module rows; the sources.';
