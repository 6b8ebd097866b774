-- A task is found by its id alone: a family has an index on it in each partition of its ring.
-- Finished tasks of a partition that is exchanged meanwhile are gone. A family whose table somebody
-- has locked is looked at last, and is waited for only when the task is in no other one.

CREATE OR REPLACE FUNCTION omd_dispatch._family_of_task(
    p_task_id bigint
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $family_of_task$
DECLARE
    v_family_code text;
    v_lock_timeout text := current_setting('lock_timeout');
    v_locked text[] := '{}'::text[];
    v_is_there boolean;
BEGIN
    p_task_id := omd.require_argument('p_task_id', p_task_id);
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '20ms', TRUE);
            v_is_there := omd_dispatch._has_task(v_family_code, p_task_id);
        EXCEPTION
            WHEN lock_not_available THEN
                v_is_there := FALSE;
                v_locked := v_locked || v_family_code;
        END;
        PERFORM set_config('lock_timeout', v_lock_timeout, TRUE);
        IF v_is_there THEN
            RETURN v_family_code;
        END IF;
    END LOOP;
    FOREACH v_family_code IN ARRAY v_locked LOOP
        IF omd_dispatch._has_task(v_family_code, p_task_id) THEN
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
