-- A run outlives its task. Where the task is gone its number is all that is known.

CREATE OR REPLACE FUNCTION omd_dispatch.task_text(
    p_task_id bigint
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $task_text$
DECLARE
    v_family_code text;
    v_task_type text;
    v_attempt text;
    v_claimed_by text;
BEGIN
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        EXECUTE format(
            'SELECT t.task_type, t.attempt::text, t.claimed_by::text FROM %s AS t'
            ' WHERE t.task_id = $1',
            omd_dispatch._model_table(v_family_code)
        )
        INTO v_task_type, v_attempt, v_claimed_by
        USING p_task_id;
        IF v_task_type IS NOT NULL THEN
            RETURN concat_ws(
                ', ',
                format('task %s of %s/%s', p_task_id, v_family_code, v_task_type),
                'attempt ' || v_attempt,
                'worker ' || v_claimed_by
            );
        END IF;
    END LOOP;
    RETURN format('task %s, which is not kept any more', p_task_id);
END
$task_text$;

COMMENT ON FUNCTION omd_dispatch.task_text IS
'For rooms: Returns the task p_task_id in words: its family, type and attempt, and the worker that '
'had it last. Locks: none.';
