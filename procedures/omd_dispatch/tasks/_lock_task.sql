-- A purge may move the row to another partition while a caller looks for it, so it is looked for
-- again until it is held or gone.

CREATE OR REPLACE FUNCTION omd_dispatch._lock_task(
    p_task_id bigint,
    OUT p_family_code text,
    OUT p_task_type text,
    OUT p_status text,
    OUT p_key_hash bytea
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lock_task$
BEGIN
    PERFORM omd.require_read_committed();
    WHILE p_status IS NULL LOOP
        p_family_code := omd_dispatch._family_of_task(p_task_id);
        PERFORM omd_dispatch._hold_model(p_family_code);
        BEGIN
            EXECUTE format(
                'SELECT task_type, status, key_hash FROM %s WHERE task_id = $1'
                ' FOR UPDATE',
                omd_dispatch._model_table(p_family_code)
            )
            INTO p_task_type, p_status, p_key_hash
            USING p_task_id;
        EXCEPTION
            WHEN serialization_failure THEN
                NULL;
        END;
    END LOOP;
END
$lock_task$;

COMMENT ON FUNCTION omd_dispatch._lock_task IS
'Locks the task p_task_id and returns where and how it is. Errors: OM005: p_task_id is NULL; '
'OM014: the isolation level is not read committed; OM072: it is unknown. Locks: the task.';
