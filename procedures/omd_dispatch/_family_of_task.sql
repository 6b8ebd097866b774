-- A task is found by its id alone: a family has an index on it in each slot of its ring. Finished
-- tasks of a slot that is exchanged meanwhile are gone.

CREATE OR REPLACE FUNCTION omd_dispatch._family_of_task(
    p_task_id bigint
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $family_of_task$
DECLARE
    v_family_code text;
    v_is_found boolean;
BEGIN
    IF p_task_id IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_task_id'));
    END IF;
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        EXECUTE format(
            'SELECT EXISTS (SELECT FROM %s WHERE task_id = $1)',
            omd_dispatch._model_table(v_family_code)
        )
        INTO v_is_found
        USING p_task_id;
        IF v_is_found THEN
            RETURN v_family_code;
        END IF;
    END LOOP;
    PERFORM omd.raise_error('OM072', jsonb_build_object('task_id', p_task_id));
    RETURN NULL;
END
$family_of_task$;

COMMENT ON FUNCTION omd_dispatch._family_of_task IS
'Returns the family of the task p_task_id. Errors: OM005: p_task_id is NULL; OM072: it is unknown.'
' Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._family_of_task FROM PUBLIC;
