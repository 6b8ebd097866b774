-- The page starts no run: it hands it to the workers, so whoever asks wants to know whether one
-- lives.

CREATE OR REPLACE FUNCTION omd_web._task_warnings(
    p_row jsonb
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $task_warnings$
DECLARE
    v_task_id CONSTANT bigint := coalesce(p_row ->> 'p_task_id', p_row ->> 'task_id')::bigint;
BEGIN
    IF v_task_id IS NULL THEN
        RETURN '{}'::text[];
    END IF;
    RETURN ARRAY(
        SELECT e.detail
        FROM omd_dispatch.explain_task(v_task_id) AS e
        WHERE e.reason IN ('SUSPENDED', 'LANE_FULL', 'NO_BACKEND')
    );
END
$task_warnings$;

COMMENT ON FUNCTION omd_web._task_warnings IS
'Returns what keeps the task that p_row names from being run; empty when it names none. Errors: '
'OM072: the task is gone. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web._task_warnings TO omd_reader;
