-- The families are known only at run time, so a view over all of them needs a function. The status
-- is a constant of the statement, so the index of tasks in it is read and no other.

CREATE OR REPLACE FUNCTION omd_dispatch._tasks_of_status(
    p_status text
)
RETURNS TABLE (
    task_id bigint,
    family_code text,
    task_type text,
    criteria jsonb,
    lane text,
    attempt integer,
    claimed_by text,
    claimed_at timestamptz,
    cancel_requested boolean,
    finished_at timestamptz,
    error text,
    batch_instance_id bigint,
    module_instance_id bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $tasks_of_status$
DECLARE
    v_family_code text;
BEGIN
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        RETURN QUERY EXECUTE format(
            'SELECT t.task_id, $1, t.task_type, %s, t.lane, t.attempt, t.claimed_by, t.claimed_at,'
            ' t.cancel_requested, t.finished_at, omd_dispatch._shown_error(t.error),'
            ' t.batch_instance_id, t.module_instance_id'
            ' FROM %s AS t WHERE t.status = %L',
            omd_dispatch._criteria_sql(v_family_code),
            omd_dispatch._model_table(v_family_code),
            p_status
        ) USING v_family_code;
    END LOOP;
END
$tasks_of_status$;

COMMENT ON FUNCTION omd_dispatch._tasks_of_status IS
'Returns the tasks of all families that have p_status, CLAIMED or DEAD. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._tasks_of_status TO omd_reader;
