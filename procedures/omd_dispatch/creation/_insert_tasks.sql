-- One statement creates a task or a thousand (_create_sql). A key that another session holds is
-- waited for.

CREATE OR REPLACE FUNCTION omd_dispatch._insert_tasks(
    p_family_code text,
    p_task_type text,
    p_tasks jsonb,
    p_on_duplicate text,
    p_schedule_code text DEFAULT NULL,
    OUT p_task_ids bigint[],
    OUT p_created bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $insert_tasks$
DECLARE
    v_conf record;
    v_names jsonb := '{}'::jsonb;
    v_key_criteria text[] := '{}'::text[];
    v_statement text;
    v_left integer[];
    v_all omd_dispatch.created_task[];
    v_task omd_dispatch.created_task;
    v_is_due boolean := FALSE;
    v_problem text;
    v_too_long jsonb;
    v_holder bigint;
BEGIN
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    -- What is read after this call, the lane too, stays until the tasks are committed.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM omd.require_read_committed();
    END IF;
    PERFORM omd_dispatch._hold_model(p_family_code);
    -- A join instead of a call of _migration_status, which takes some 10 microseconds for each
    -- task.
    SELECT
        t AS task_type,
        omd_dispatch._partition_code(
            f.scheme_code, f.partition_count, statement_timestamp()
        ) AS partition_code,
        coalesce(s.migration_status, 0) >= 3 AS is_new,
        EXISTS (
            SELECT FROM omd_dispatch.task_conf_family_model AS m
            WHERE m.family_code = p_family_code
        ) AS has_criteria,
        EXISTS (
            SELECT FROM omd_dispatch.task_suspension AS s
            WHERE s.family_code = p_family_code AND s.resumed_at IS NULL
        ) AS is_guarded
    INTO v_conf
    FROM omd_dispatch.task_conf_type_desc AS t
    INNER JOIN omd_dispatch.task_conf_family_desc AS f ON t.family_code = f.family_code
    LEFT JOIN omd_dispatch.task_migration_status AS s ON t.family_code = s.family_code
    WHERE t.family_code = p_family_code AND t.task_type = p_task_type;
    IF NOT FOUND THEN
        PERFORM omd_dispatch._require_type(p_family_code, p_task_type);
    END IF;
    -- Tasks without criteria, in a family without them, have no mistakes.
    IF v_conf.has_criteria OR p_tasks @? '$[*].criteria.*' THEN
        v_key_criteria := omd_dispatch._key_criteria(p_family_code, p_task_type);
        v_names := omd_dispatch._require_criteria(p_family_code, p_task_type, p_tasks);
    END IF;

    p_task_ids := array_fill(NULL::bigint, ARRAY[jsonb_array_length(p_tasks)]);
    p_created := 0::bigint;
    LOOP
        BEGIN
            IF v_conf.is_new THEN
                v_all := omd_dispatch._insert_new_tasks(
                    p_tasks, v_names, v_left, v_conf.task_type, v_key_criteria,
                    v_conf.partition_code, p_schedule_code, v_conf.is_guarded
                );
            ELSE
                -- Its plan is not kept: the old model goes with its migration.
                v_statement := coalesce(
                    v_statement, omd_dispatch._create_sql(p_family_code, p_task_type)
                );
                EXECUTE v_statement INTO v_all
                USING p_tasks, v_names, v_left, v_conf.task_type, v_key_criteria,
                    v_conf.partition_code, p_schedule_code, v_conf.is_guarded;
            END IF;
            FOREACH v_task IN ARRAY coalesce(v_all, '{}') LOOP
                IF v_task.is_new THEN
                    p_task_ids[v_task.n] := v_task.task_id;
                    p_created := p_created + 1;
                    v_is_due := v_is_due OR v_task.is_due;
                ELSE
                    -- A holder that has just released the key is not found; then the task is tried
                    -- again.
                    SELECT m.task_id INTO v_holder
                    FROM omd_dispatch.mutex AS m
                    WHERE m.key_hash = v_task.key_hash;
                    CONTINUE WHEN NOT FOUND;
                    IF p_on_duplicate = 'ERROR' THEN
                        EXIT;
                    END IF;
                    p_task_ids[v_task.n] := v_holder;
                END IF;
            END LOOP;
        EXCEPTION
            WHEN data_exception THEN
                v_problem := sqlerrm;
            WHEN program_limit_exceeded THEN
                -- The index of its lane, or of a search, has no room for it.
                SELECT
                    jsonb_build_object(
                        'family_code', p_family_code,
                        'task_type', p_task_type,
                        'criterion', coalesce(v_names ->> g.key, g.key),
                        'problem', sqlerrm,
                        'task', t.n
                    )
                INTO v_too_long
                FROM jsonb_array_elements(p_tasks) WITH ORDINALITY AS t (task, n)
                CROSS JOIN LATERAL jsonb_each_text(nullif(t.task -> 'criteria', 'null')) AS g
                ORDER BY octet_length(g.value) DESC, t.n
                LIMIT 1;
                PERFORM omd.raise_error('OM078', v_too_long);
        END;
        IF v_problem IS NOT NULL THEN
            PERFORM omd_dispatch._raise_invalid_criterion(
                p_family_code, p_task_type, p_tasks, v_names
            );
            PERFORM omd.raise_error(
                'OM013',
                jsonb_build_object(
                    'argument', 'p_execution_time, p_priority or p_payload',
                    'value', v_problem,
                    'expected', 'of its type'
                )
            );
        ELSIF v_holder IS NOT NULL AND p_on_duplicate = 'ERROR' THEN
            PERFORM omd.raise_error(
                'OM170',
                jsonb_build_object(
                    'task_id', v_holder, 'key', v_task.key_text, 'task', v_task.n
                )
            );
        END IF;
        EXIT WHEN array_position(p_task_ids, NULL) IS NULL;
        v_left := ARRAY(
            SELECT n FROM unnest(p_task_ids) WITH ORDINALITY AS i (id, n) WHERE i.id IS NULL
        );
    END LOOP;
    IF v_is_due THEN
        -- A worker that has nothing to do need not look elsewhere for a single task.
        PERFORM omd_dispatch._tell_due(
            (v_conf.task_type).deliver_id
            || CASE
                WHEN jsonb_array_length(p_tasks) = 1
                    AND (v_conf.task_type).max_running IS NULL
                    AND v_conf.is_new
                    AND NOT v_conf.is_guarded
                    THEN format(
                        ' %s %s %s', p_family_code, v_conf.partition_code, p_task_ids[1]
                    )
                ELSE ''
            END
        );
    END IF;
END
$insert_tasks$;

COMMENT ON FUNCTION omd_dispatch._insert_tasks IS
'Creates the tasks p_tasks of the type p_task_type in p_family_code, as create_tasks says, for '
'p_schedule_code. Returns p_task_ids, in the order of p_tasks, and p_created, how many of them are'
' new. Errors: OM005, OM013, OM014, OM070, OM071, OM075, OM076, OM077, OM078; OM170: its key is '
'taken, and p_on_duplicate is ERROR. Locks: the keys; it waits for those who create or end a task '
'with one of them.';
GRANT EXECUTE ON FUNCTION omd_dispatch._insert_tasks TO omd_runner, omd_admin;
