-- A delivery that is taken back takes its load along.

CREATE OR REPLACE FUNCTION omd_facts._loads_of_runs(
    p_instance_array bigint[]
)
RETURNS TABLE (
    load_instance_id bigint,
    because_of bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        l.module_instance_id,
        NULL::bigint AS because_of
    FROM omd_facts.load_log AS l
    WHERE l.module_instance_id = any(p_instance_array) AND l.undone_by IS NULL
    UNION ALL
    SELECT
        l.module_instance_id,
        min(d.module_instance_id) AS because_of
    FROM omd_delivery.deliveries_of_runs(p_instance_array) AS d
    INNER JOIN omd_facts.load_log AS l ON d.load_instance_id = l.module_instance_id
    WHERE l.undone_by IS NULL AND l.module_instance_id <> all(p_instance_array)
    GROUP BY l.module_instance_id;
END;

COMMENT ON FUNCTION omd_facts._loads_of_runs IS
'Returns the loads that stand among the runs p_instance_array, and those of the deliveries whose '
'runs are among them, because_of one of these; NULL: it is among them itself. Locks: none.';
