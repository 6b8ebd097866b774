-- Rows are looked for with the rights of the caller, who may not write what was found. Only runs
-- that OMD itself has declared dead are noted, whatever the caller says.

CREATE OR REPLACE FUNCTION omd._note_left_rows(
    p_module_id integer,
    p_looked bigint[],
    p_found bigint[],
    p_counts integer[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_left_rows$
BEGIN
    DELETE FROM omd.left_rows AS l
    WHERE l.module_id = p_module_id
        AND l.module_instance_id = ANY(p_looked)
        AND l.module_instance_id <> ALL(p_found);

    INSERT INTO omd.left_rows AS l (module_id, module_instance_id, row_count, found_datetime)
    SELECT
        d.module_id,
        d.module_instance_id,
        least(f.row_count, 1000),
        clock_timestamp()
    FROM unnest(p_found, p_counts) AS f (id, row_count)
    INNER JOIN omd.dead_run AS d ON f.id = d.module_instance_id AND d.module_id = p_module_id
    WHERE f.row_count > 0
    ORDER BY d.module_instance_id
    ON CONFLICT (module_id, module_instance_id) DO UPDATE SET row_count = excluded.row_count
    WHERE l.row_count <> excluded.row_count;

    DELETE FROM omd.dead_run AS d
    WHERE d.module_id = p_module_id
        AND d.module_instance_id < omd._oldest_of_last_runs(p_module_id)
        AND NOT EXISTS (
            SELECT FROM omd.left_rows AS l
            WHERE l.module_id = d.module_id AND l.module_instance_id = d.module_instance_id
        );
END
$note_left_rows$;

COMMENT ON FUNCTION omd._note_left_rows IS
'Notes what a look for rows of dead runs of the Module p_module_id has found: of the runs '
'p_looked, p_found have left rows, p_counts each, and the others none. Runs that are no longer '
'among the last 20 and have left none are forgotten. Locks: the rows that it changes.';
GRANT EXECUTE ON FUNCTION omd._note_left_rows TO omd_runner, omd_admin;
