-- The tables of a family are known only at run time.

CREATE OR REPLACE FUNCTION omd_dispatch._has_task(
    p_family_code text,
    p_task_id bigint
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $has_task$
DECLARE
    v_is_there boolean;
BEGIN
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %s WHERE task_id = $1)',
        omd_dispatch._model_table(p_family_code)
    )
    INTO v_is_there
    USING p_task_id;
    RETURN v_is_there;
END
$has_task$;

COMMENT ON FUNCTION omd_dispatch._has_task IS
'Returns whether p_family_code has the task p_task_id. Locks: none.';
