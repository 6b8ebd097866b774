-- The key must be free again: another task may have taken it meanwhile. Its lane may be another.

CREATE OR REPLACE PROCEDURE omd_dispatch.revive_task(
    p_task_id bigint,
    p_execution_time timestamptz DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $revive_task$
DECLARE
    v_task record;
    v_type omd_dispatch.task_conf_type_desc;
    v_criteria jsonb;
    v_key_text text;
    v_holder bigint;
BEGIN
    PERFORM omd_dispatch._require_task_arguments(NULL, p_execution_time, NULL, NULL);
    v_task := omd_dispatch._lock_task(p_task_id);
    IF v_task.p_status NOT IN ('DEAD', 'CANCELLED') THEN
        PERFORM omd.raise_error(
            'OM171',
            jsonb_build_object(
                'task_id', p_task_id, 'status', v_task.p_status, 'action', 'be revived'
            )
        );
    END IF;
    EXECUTE format(
        'SELECT c.criteria, %s FROM (SELECT %s AS criteria FROM %s AS t WHERE t.task_id = $1) AS c',
        omd_dispatch._key_sql(v_task.p_family_code, '$2', '$3'),
        omd_dispatch._criteria_sql(v_task.p_family_code),
        omd_dispatch._model_table(v_task.p_family_code)
    )
    INTO v_criteria, v_key_text
    USING p_task_id, v_task.p_task_type,
        omd_dispatch._key_criteria(v_task.p_family_code, v_task.p_task_type);
    IF v_task.p_key_hash IS NOT NULL THEN
        LOOP
            INSERT INTO omd_dispatch.mutex (key_hash, family_code, task_type, key_text, task_id)
            VALUES (
                v_task.p_key_hash, v_task.p_family_code, v_task.p_task_type, v_key_text, p_task_id
            )
            ON CONFLICT (key_hash) DO NOTHING;
            EXIT WHEN FOUND;
            SELECT m.task_id INTO v_holder
            FROM omd_dispatch.mutex AS m
            WHERE m.key_hash = v_task.p_key_hash;
            IF FOUND THEN
                PERFORM omd.raise_error(
                    'OM170', jsonb_build_object('task_id', v_holder, 'key', v_key_text)
                );
            END IF;
        END LOOP;
    END IF;
    SELECT t.* INTO v_type
    FROM omd_dispatch.task_conf_type_desc AS t
    WHERE t.family_code = v_task.p_family_code AND t.task_type = v_task.p_task_type;
    EXECUTE format(
        'UPDATE %s SET status = ''PENDING'', attempt = 0, outcome = NULL, error = NULL,'
        ' batch_instance_id = NULL, module_instance_id = NULL, finished_at = NULL,'
        ' pending_since = clock_timestamp(),'
        ' execution_time = coalesce($2, clock_timestamp()),'
        ' lane = omd_dispatch._lane($6, $5),'
        ' suspension_id = omd_dispatch._matching_suspension($3, $4, $5)'
        ' WHERE task_id = $1',
        omd_dispatch._model_table(v_task.p_family_code)
    ) USING p_task_id, p_execution_time, v_task.p_family_code, v_task.p_task_type, v_criteria, v_type;
    PERFORM omd_dispatch._notify_due(v_task.p_family_code, v_task.p_task_type, p_execution_time);
    PERFORM omd.write_event(
        0, 0, 4, 'REVIVED',
        format(
            '%s: task %s (%s %s), which was %s', omd.editor(), p_task_id, v_task.p_family_code,
            v_task.p_task_type, v_task.p_status
        )
    );
END
$revive_task$;

COMMENT ON PROCEDURE omd_dispatch.revive_task IS
'Makes the dead or cancelled task p_task_id pending again, as if it had not been tried. '
'p_execution_time: when it is due (now). Errors: OM005: p_task_id is NULL; OM013: an argument is '
'not allowed; OM014: the isolation level is not read committed; OM072: it is unknown; OM170: '
'another task has its key; OM171: it is neither dead nor cancelled. Locks: the task and its key.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.revive_task TO omd_admin;
