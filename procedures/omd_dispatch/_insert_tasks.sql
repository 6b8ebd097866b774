-- One statement creates a task or a thousand: it takes the keys first, in their order, so that two
-- calls can't wait for each other, and then inserts the tasks whose key was free.

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
    v_family omd_dispatch.task_conf_family_desc;
    v_type omd_dispatch.task_conf_type_desc;
    v_names jsonb;
    v_columns text;
    v_values text;
    v_statement text;
    v_left integer[];
    v_n integer;
    v_task_id bigint;
    v_key_hash bytea;
    v_key_text text;
    v_is_task_due boolean;
    v_is_new boolean;
    v_is_new_model boolean;
    v_is_due boolean := FALSE;
    v_problem text;
    v_holder bigint;
BEGIN
    PERFORM omd.require_read_committed();
    -- What is read after this call, the lane too, stays until the tasks are committed.
    PERFORM omd_dispatch._hold_model(p_family_code);
    v_type := omd_dispatch._require_type(p_family_code, p_task_type);
    v_family := omd_dispatch._require_family(p_family_code);
    v_is_new_model := omd_dispatch._migration_status(p_family_code) >= 3;
    v_names := omd_dispatch._require_criteria(p_family_code, p_task_type, p_tasks);

    SELECT
        coalesce(
            string_agg(format(', %I', 'func_' || lower(m.criterion)), '' ORDER BY m.criterion), ''
        ) || ', partition_code',
        coalesce(
            string_agg(
                format(
                    CASE m.data_type
                        WHEN 'numeric' THEN ', trim_scale((c.criteria ->> %L)::%s) AS %I'
                        ELSE ', (c.criteria ->> %L)::%s AS %I'
                    END,
                    m.criterion,
                    m.data_type,
                    'func_' || lower(m.criterion)
                ),
                ''
                ORDER BY m.criterion
            ),
            ''
        )
    INTO v_columns, v_values
    FROM omd_dispatch.task_conf_family_model AS m
    WHERE m.family_code = p_family_code;

    v_statement := format(
        $sql$
        WITH typed AS MATERIALIZED (
            SELECT
                c.n,
                nextval('omd_dispatch.task_id') AS task_id,
                c.execution_time,
                c.priority,
                c.payload
                %2$s
            FROM (
                SELECT
                    t.n::integer AS n,
                    coalesce((t.task ->> 'execution_time')::timestamptz, clock_timestamp())
                    AS execution_time,
                    coalesce((t.task ->> 'priority')::smallint, 5::smallint) AS priority,
                    nullif(t.task -> 'payload', 'null') AS payload,
                    (
                        SELECT jsonb_object_agg(coalesce($2 ->> g.key, g.key), g.value)
                        FROM jsonb_each(coalesce(nullif(t.task -> 'criteria', 'null'), '{}')) AS g
                    ) AS criteria
                FROM jsonb_array_elements($1) WITH ORDINALITY AS t (task, n)
                WHERE t.n = ANY($3)
                ORDER BY t.n
            ) AS c
        ),
        keyed AS MATERIALIZED (
            SELECT
                t.*, c.criteria, k.key_text, sha256(convert_to(k.key_text, 'UTF8')) AS key_hash
            FROM typed AS t
            CROSS JOIN LATERAL (SELECT %6$s AS criteria) AS c
            CROSS JOIN LATERAL (SELECT %3$s AS key_text) AS k
        ),
        held AS (
            INSERT INTO omd_dispatch.mutex (key_hash, family_code, task_type, key_text, task_id)
            SELECT k.key_hash, $4, $5, k.key_text, k.task_id
            FROM keyed AS k
            WHERE k.key_text IS NOT NULL
            ORDER BY k.key_hash, k.n
            ON CONFLICT (key_hash) DO NOTHING
            RETURNING task_id
        ),
        inserted AS (
            INSERT INTO %1$s (
                task_id, task_type, lane, priority, execution_time, status,
                attempt, suspension_id, created_at, schedule_code, key_hash, payload %4$s
            )
            SELECT
                c.task_id, $5, %5$s, c.priority, c.execution_time, 'PENDING', 0,
                %9$s, clock_timestamp(), $7,
                c.key_hash, c.payload %7$s
            FROM keyed AS c
            WHERE c.key_text IS NULL OR c.task_id IN (SELECT h.task_id FROM held AS h)
            RETURNING task_id
        )%8$s
        SELECT
            k.n,
            k.task_id,
            k.key_hash,
            k.key_text,
            k.execution_time <= clock_timestamp() AS is_due,
            i.task_id IS NOT NULL AS is_new
        FROM keyed AS k
        LEFT JOIN inserted AS i ON k.task_id = i.task_id
        ORDER BY k.n
        $sql$,
        omd_dispatch._model_table(p_family_code),
        v_values,
        omd_dispatch._key_sql(p_family_code, p_task_type),
        CASE WHEN v_is_new_model THEN v_columns ELSE '' END,
        omd_dispatch._lane_sql(v_type),
        omd_dispatch._criteria_sql(p_family_code, TRUE),
        CASE WHEN v_is_new_model THEN replace(v_columns, ', partition_code', ', $6') ELSE '' END,
        CASE
            WHEN v_is_new_model THEN ''
            ELSE format(
                ', described AS (INSERT INTO %s (task_id, criterion, criterion_value)'
                ' SELECT i.task_id, v.key, v.value FROM inserted AS i'
                ' INNER JOIN keyed AS k ON i.task_id = k.task_id'
                ' CROSS JOIN LATERAL jsonb_each_text(k.criteria) AS v)',
                omd_dispatch._job_table(p_task_type, 'criteria_value_')
            )
        END,
        CASE
            WHEN EXISTS (
                SELECT FROM omd_dispatch.task_suspension AS s
                WHERE s.family_code = p_family_code AND s.resumed_at IS NULL
            ) THEN 'omd_dispatch._matching_suspension($4, $5, c.criteria)'
            ELSE 'NULL::bigint'
        END
    );

    p_task_ids := array_fill(NULL::bigint, ARRAY[jsonb_array_length(p_tasks)]);
    p_created := 0::bigint;
    v_left := ARRAY(SELECT generate_series(1, jsonb_array_length(p_tasks)));
    WHILE v_left <> '{}' LOOP
        BEGIN
            FOR v_n, v_task_id, v_key_hash, v_key_text, v_is_task_due, v_is_new IN
                EXECUTE v_statement
                USING p_tasks, v_names, v_left, p_family_code, p_task_type,
                    omd_dispatch._partition_code(
                        v_family.scheme_code, v_family.partition_count, clock_timestamp()
                    ),
                    p_schedule_code
            LOOP
                IF v_is_new THEN
                    p_task_ids[v_n] := v_task_id;
                    p_created := p_created + 1;
                    v_is_due := v_is_due OR v_is_task_due;
                ELSE
                    -- A holder that has just let go of the key is not found; then the task is tried
                    -- again.
                    SELECT m.task_id INTO v_holder
                    FROM omd_dispatch.mutex AS m
                    WHERE m.key_hash = v_key_hash;
                    CONTINUE WHEN NOT FOUND;
                    IF p_on_duplicate = 'ERROR' THEN
                        EXIT;
                    END IF;
                    p_task_ids[v_n] := v_holder;
                END IF;
            END LOOP;
        EXCEPTION
            WHEN data_exception THEN
                v_problem := sqlerrm;
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
                    'task_id', v_holder, 'key', v_key_text, 'task', v_n
                )
            );
        END IF;
        v_left := ARRAY(
            SELECT n FROM unnest(p_task_ids) WITH ORDINALITY AS i (id, n) WHERE i.id IS NULL
        );
    END LOOP;
    IF v_is_due THEN
        PERFORM omd_dispatch._tell_due(v_type.deliver_id);
    END IF;
END
$insert_tasks$;

COMMENT ON FUNCTION omd_dispatch._insert_tasks IS
'Creates the tasks p_tasks of the type p_task_type in p_family_code, as create_tasks says, for '
'p_schedule_code. Returns p_task_ids, in the order of p_tasks, and p_created, how many of them are'
' new. Errors: OM005, OM013, OM014, OM070, OM071, OM075, OM076, OM077, OM078; OM170: its key is '
'taken, and p_on_duplicate is ERROR. Locks: the keys; it waits for those who create or end a task '
'with one of them.';
REVOKE ALL ON FUNCTION omd_dispatch._insert_tasks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._insert_tasks TO omd_runner, omd_admin;
