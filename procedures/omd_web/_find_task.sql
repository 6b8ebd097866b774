-- A task may be in any family, so dispatch is asked, which refuses an id that it does not know.

CREATE OR REPLACE FUNCTION omd_web._find_task(
    p_task_id bigint
)
RETURNS TABLE (
    title text,
    detail text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $find_task$
BEGIN
    RETURN QUERY
    SELECT
        format('Task %s', t.task_id),
        format('%s/%s, %s', t.family_code, t.task_type, t.status)
    FROM omd_dispatch.explain_task(p_task_id) AS t;
EXCEPTION
    WHEN SQLSTATE 'OM005' OR SQLSTATE 'OM072' THEN
        RETURN;
END
$find_task$;

COMMENT ON FUNCTION omd_web._find_task IS
'Returns what the task p_task_id is; nothing when there is none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web._find_task TO omd_reader;
