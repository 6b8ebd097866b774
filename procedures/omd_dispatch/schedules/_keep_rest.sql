-- A round is bounded, and what a source has shown once is not read again.

CREATE OR REPLACE FUNCTION omd_dispatch._keep_rest(
    p_schedule_code text,
    p_tasks jsonb
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO omd_dispatch.task_schedule_rest (schedule_code, task)
    SELECT
        p_schedule_code,
        t.task
    FROM jsonb_array_elements(p_tasks) WITH ORDINALITY AS t (task, n)
    ORDER BY t.n;
END;

COMMENT ON FUNCTION omd_dispatch._keep_rest IS
'Keeps p_tasks for the next rounds of the schedule p_schedule_code. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._keep_rest TO omd_runner, omd_admin;
