-- The rest of an occurrence is older than what its source shows now, and comes first.

CREATE OR REPLACE FUNCTION omd_dispatch._take_rest(
    p_schedule_code text,
    p_limit integer,
    OUT p_tasks jsonb,
    OUT p_is_left boolean
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_rest$
BEGIN
    WITH taken AS (
        DELETE FROM omd_dispatch.task_schedule_rest AS r
        WHERE r.schedule_code = p_schedule_code AND r.task_number IN (
            SELECT o.task_number FROM omd_dispatch.task_schedule_rest AS o
            WHERE o.schedule_code = p_schedule_code
            ORDER BY o.task_number
            LIMIT p_limit
        )
        RETURNING r.task_number, r.task
    )

    SELECT jsonb_agg(t.task ORDER BY t.task_number) INTO p_tasks FROM taken AS t;
    p_is_left := p_tasks IS NOT NULL AND EXISTS (
        SELECT FROM omd_dispatch.task_schedule_rest AS r WHERE r.schedule_code = p_schedule_code
    );
END
$take_rest$;

COMMENT ON FUNCTION omd_dispatch._take_rest IS
'Takes up to p_limit tasks of those that the last rounds of the schedule p_schedule_code have left,'
' and returns them (NULL: there are none), and p_is_left, whether others are left. Locks: these.';
GRANT EXECUTE ON FUNCTION omd_dispatch._take_rest TO omd_runner, omd_admin;
