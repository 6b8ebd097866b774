-- _fire_source runs with the rights of a worker, who may not write sources otherwise.

CREATE OR REPLACE FUNCTION omd_dispatch._end_source(
    p_family_code text,
    p_task_type text,
    p_created bigint,
    p_problem text
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    UPDATE omd_dispatch.task_source AS s SET
        took = clock_timestamp() - s.last_fired_at,
        is_firing = FALSE,
        attempt = CASE WHEN p_problem IS NULL THEN 0 ELSE s.attempt END,
        retry_time = CASE
            WHEN p_problem IS NOT NULL
                THEN clock_timestamp() + omd_dispatch._backoff(s.attempt)
        END,
        created_count = s.created_count + p_created,
        problem = p_problem
    WHERE s.family_code = p_family_code AND s.task_type = p_task_type;
END;

COMMENT ON FUNCTION omd_dispatch._end_source IS
'Writes what became of reading the source of the type p_task_type in p_family_code: p_created '
'tasks, or p_problem. Locks: the source.';
GRANT EXECUTE ON FUNCTION omd_dispatch._end_source TO omd_runner, omd_admin;
