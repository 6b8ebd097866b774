-- The families are known only at run time, so a view over all of them needs a function.

CREATE OR REPLACE FUNCTION omd_dispatch._claimed_tasks()
RETURNS TABLE (
    task_id bigint,
    family_code text,
    task_type text,
    criteria jsonb,
    lane text,
    attempt integer,
    claimed_by text,
    claimed_at timestamptz,
    cancel_requested boolean
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
AS $claimed_tasks$
DECLARE
    v_family_code text;
BEGIN
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        RETURN QUERY EXECUTE format(
            'SELECT t.task_id, $1, t.task_type, %s, t.lane, t.attempt, t.claimed_by, t.claimed_at,'
            ' t.cancel_requested FROM %s AS t WHERE t.status = ''CLAIMED''',
            omd_dispatch._criteria_sql(v_family_code), omd_dispatch._model_table(v_family_code)
        ) USING v_family_code;
    END LOOP;
END
$claimed_tasks$;

COMMENT ON FUNCTION omd_dispatch._claimed_tasks IS
'Returns every claimed task of every family. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._claimed_tasks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._claimed_tasks TO omd_reader;
