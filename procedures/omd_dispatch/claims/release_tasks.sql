-- A worker that has claimed more than it can start soon lets others have it.

CREATE OR REPLACE PROCEDURE omd_dispatch.release_tasks(
    p_backend_id text,
    p_task_ids bigint[]
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $release_tasks$
BEGIN
    PERFORM omd.require_read_committed();
    p_backend_id := omd.require_argument('p_backend_id', p_backend_id);
    p_task_ids := omd.require_argument('p_task_ids', p_task_ids);
    PERFORM omd_dispatch._give_back(p_backend_id, p_task_ids);
END
$release_tasks$;

COMMENT ON PROCEDURE omd_dispatch.release_tasks IS
'For programs: '
'Gives back those of the tasks p_task_ids that the worker p_backend_id has claimed and not '
'started. Errors: OM005: an argument is NULL; OM014: the isolation level is not read committed. '
'Locks: the tasks. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.release_tasks TO omd_runner;
