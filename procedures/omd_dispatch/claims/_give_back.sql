-- A task that was not started counts no attempt, and is due as it was. One that is to be cancelled
-- need not start any more. A worker that leaves does not say what it has started, but the runs do.

CREATE OR REPLACE FUNCTION omd_dispatch._give_back(
    p_backend_id text,
    p_task_ids bigint[]
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $give_back$
DECLARE
    v_family_code text;
    v_held text[] := '{}'::text[];
    v_all bigint := 0::bigint;
BEGIN
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        IF omd_dispatch._try_hold_model(v_family_code) THEN
            v_all := v_all + omd_dispatch._give_back_of(v_family_code, p_backend_id, p_task_ids);
        ELSE
            v_held := v_held || v_family_code;
        END IF;
    END LOOP;
    -- A family that is being changed is waited for when something is left that may be its. What a
    -- worker that leaves has there is settled by maintenance.
    FOREACH v_family_code IN ARRAY v_held LOOP
        EXIT WHEN coalesce(v_all >= cardinality(p_task_ids), TRUE);
        PERFORM omd_dispatch._hold_model(v_family_code);
        v_all := v_all + omd_dispatch._give_back_of(v_family_code, p_backend_id, p_task_ids);
    END LOOP;
    IF v_all > 0 THEN
        PERFORM omd_dispatch._tell_due(b.backend_type)
        FROM omd_dispatch.backend_registration AS b
        WHERE b.backend_id = p_backend_id;
    END IF;
    RETURN v_all;
END
$give_back$;

COMMENT ON FUNCTION omd_dispatch._give_back IS
'Makes the tasks p_task_ids (NULL: all that have begun no run) that the backend p_backend_id has '
'claimed pending again, as if they had not been claimed, or cancelled where that was asked, and '
'returns their number. Locks: the tasks and their keys.';
