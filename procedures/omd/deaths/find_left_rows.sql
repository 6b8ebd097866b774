-- Begins look only where it is their turn, and with the rights of who begins.

CREATE OR REPLACE FUNCTION omd.find_left_rows()
RETURNS TABLE (
    module_code text,
    module_instance_id bigint,
    row_count integer
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $find_left_rows$
BEGIN
    RETURN QUERY
    SELECT
        m.module_code::text,
        l.module_instance_id,
        l.row_count
    FROM (
        SELECT d.module_id FROM omd.dead_run AS d
        GROUP BY d.module_id
        ORDER BY d.module_id
    ) AS d
    INNER JOIN omd.module AS m ON d.module_id = m.module_id
    CROSS JOIN LATERAL omd._look_for_left_rows(d.module_id) AS l
    ORDER BY m.module_code, l.module_instance_id;
END
$find_left_rows$;

COMMENT ON FUNCTION omd.find_left_rows IS
'For the driver: '
'Looks for rows of runs that were declared dead and rolled back, as a begin does, for every Module '
'that has such runs, with the rights of the caller; notes in omd.left_rows what it has found, and '
'returns it: module_code, module_instance_id, row_count (1,000 for that many or more). What is '
'there is undone by R on the run (set_next_run_indicator). Locks: the rows that it notes. Call '
'again when the answer was lost.';
GRANT EXECUTE ON FUNCTION omd.find_left_rows TO omd_runner, omd_admin;
