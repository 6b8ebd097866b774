-- The row goes last, so that nobody settles the claims as those of a dead backend meanwhile.

CREATE OR REPLACE PROCEDURE omd_dispatch.leave_backend(
    p_backend_id text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $leave_backend$
BEGIN
    PERFORM omd.require_read_committed();
    p_backend_id := omd.require_argument('p_backend_id', p_backend_id);
    PERFORM FROM omd_dispatch.backend_registration AS b
    WHERE b.backend_id = p_backend_id
    FOR UPDATE;
    PERFORM omd_dispatch._give_back(p_backend_id, NULL);
    PERFORM omd_dispatch._settle_claims(p_backend_id, NULL);
    DELETE FROM omd_dispatch.backend_registration AS b WHERE b.backend_id = p_backend_id;
END
$leave_backend$;

COMMENT ON PROCEDURE omd_dispatch.leave_backend IS
'For programs: '
'Removes the worker p_backend_id and gives back what it has claimed; a task that has begun a run '
'ends as the run did. Call it when nothing runs any more. Errors: OM005: p_backend_id is NULL; '
'OM014: the isolation level is not read committed. Locks: the backend; its tasks. Call again when '
'the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.leave_backend TO omd_runner;
