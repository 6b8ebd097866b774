-- It takes one look at the row of the instance and one at the activity of its backend.

CREATE OR REPLACE FUNCTION omd.session_lives(
    p_instance_type text,
    p_instance_id bigint
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(bool_or(omd._statement_runs(i.backend_pid, i.statement_start)), FALSE)
    FROM (
        SELECT
            bi.backend_pid,
            bi.statement_start
        FROM omd.batch_instance AS bi
        WHERE p_instance_type = 'BATCH' AND bi.batch_instance_id = p_instance_id
        UNION ALL
        SELECT
            mi.backend_pid,
            mi.statement_start
        FROM omd.module_instance AS mi
        WHERE p_instance_type = 'MODULE' AND mi.module_instance_id = p_instance_id
    ) AS i;
END;

COMMENT ON FUNCTION omd.session_lives IS
'For rooms: Returns whether the statement that executes an in-database run has not ended yet. '
'p_instance_type: BATCH or MODULE. p_instance_id: the instance. It returns FALSE for every other '
'instance. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.session_lives TO omd_reader;
