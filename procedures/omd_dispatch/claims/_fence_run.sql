-- A worker may freeze after it has taken a task and before its run begins. When it wakes up, a
-- second one may have loaded already; so a run begins only while its claim holds. The lock lets
-- nobody end the claim before the run is visible.

CREATE OR REPLACE FUNCTION omd_dispatch._fence_run()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fence_run$
DECLARE
    v_task_id bigint := (new.execution_context ->> 'task_id')::bigint;
    v_family_code text;
    v_holds boolean;
BEGIN
    BEGIN
        v_family_code := omd_dispatch._family_of_task(v_task_id);
    EXCEPTION
        WHEN SQLSTATE 'OM072' THEN
            RETURN new;  -- a context that names no task of this room
    END;
    PERFORM omd_dispatch._hold_model(v_family_code);
    EXECUTE format(
        'SELECT TRUE FROM %s WHERE task_id = $1 AND status = ''CLAIMED'' AND claim_token = $2'
        ' FOR SHARE',
        omd_dispatch._model_table(v_family_code)
    )
    INTO v_holds
    USING v_task_id, (new.execution_context ->> 'claim_token')::bigint;
    IF v_holds IS NULL THEN
        PERFORM omd.raise_error(
            'OM171',
            jsonb_build_object(
                'task_id', v_task_id,
                'status', 'no longer claimed under this token',
                'action', 'begin a run'
            )
        );
    END IF;
    RETURN new;
END
$fence_run$;

COMMENT ON FUNCTION omd_dispatch._fence_run IS
'Trigger: refuses a run that is begun for a task whose claim has ended. A context whose task is '
'unknown is let pass. Errors: OM171: the task is not claimed under this token. Locks: the task FOR'
' SHARE.';
