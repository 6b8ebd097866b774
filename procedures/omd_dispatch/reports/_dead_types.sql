-- Of a type with many dead tasks it counts those that are looked at.

CREATE OR REPLACE FUNCTION omd_dispatch._dead_types()
RETURNS TABLE (
    family_code text,
    task_type text,
    dead bigint,
    is_all boolean,
    oldest timestamptz,
    task_ids bigint[]
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
SET jit = off
BEGIN ATOMIC
    SELECT
        d.family_code,
        d.task_type,
        count(*) AS dead,
        bool_and(d.is_all) AS is_all,
        min(d.finished_at) AS oldest,
        (array_agg(d.task_id ORDER BY d.task_id))[1:20] AS task_ids
    FROM omd_dispatch._some_dead(FALSE) AS d
    GROUP BY d.family_code, d.task_type;
END;

COMMENT ON FUNCTION omd_dispatch._dead_types IS
'Returns each type of tasks of which some are dead: how many, whether these are all, since when, '
'and the ids of the first 20. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._dead_types TO omd_reader;
