-- Partial indexes have the live tasks, and not those of other families. The type is no part of the
-- answer: the engine of a Module may have changed since its task was created. In the model of
-- before nothing is found, and the key alone keeps a second task away.

CREATE OR REPLACE FUNCTION omd_dispatch.live_work()
RETURNS TABLE (
    code text,
    task_id bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $live_work$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT t.func_code, t.task_id FROM omd_dispatch.task_data_work AS t
    WHERE t.status = 'PENDING' AND t.suspension_id IS NULL
    UNION ALL
    SELECT t.func_code, t.task_id FROM omd_dispatch.task_data_work AS t
    WHERE t.status = 'CLAIMED'
    UNION ALL
    SELECT t.func_code, t.task_id FROM omd_dispatch.task_data_work AS t
    WHERE t.suspension_id IS NOT NULL;
END
$live_work$;

COMMENT ON FUNCTION omd_dispatch.live_work IS
'For rooms: Returns the live tasks of the family WORK, each with the Module that it runs. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_dispatch.live_work TO omd_reader;
