-- The criteria of the old model are rows of their own.

CREATE OR REPLACE FUNCTION omd_dispatch._remove_copy(
    p_family_code text,
    p_is_new boolean,
    p_task_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $remove_copy$
BEGIN
    EXECUTE format(
        'DELETE FROM %s WHERE task_id = $1', omd_dispatch._model_table(p_family_code, p_is_new)
    ) USING p_task_id;
    IF NOT p_is_new THEN
        EXECUTE format(
            'DELETE FROM omd_dispatch.%I WHERE task_id = $1',
            'old_task_criteria_' || lower(p_family_code)
        ) USING p_task_id;
    END IF;
END
$remove_copy$;

COMMENT ON FUNCTION omd_dispatch._remove_copy IS
'Removes the task p_task_id of p_family_code from the new model, or with p_is_new FALSE from the '
'old one. Locks: the task there.';
