-- The keys are taken first, in their order, so that two calls can't wait for each other, and then
-- the tasks are inserted whose key was free; a family without keys does only the latter. The
-- parameters are: $1 the tasks, $2 the external names of criteria, $3 which of the tasks (NULL:
-- all), $4 the type, $5 its key criteria, $6 the partition, $7 the schedule, $8 whether a
-- suspension may match.

CREATE OR REPLACE FUNCTION omd_dispatch._create_sql(
    p_family_code text,
    p_old_type text DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $create_sql$
DECLARE
    v_columns text;
    v_values text;
    v_has_key boolean;
BEGIN
    SELECT
        coalesce(
            string_agg(format(', %I', 'func_' || lower(m.criterion)), '' ORDER BY m.criterion), ''
        ),
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
        ),
        coalesce(bool_or(m.is_key), FALSE)
    INTO v_columns, v_values, v_has_key
    FROM omd_dispatch.task_conf_family_model AS m
    WHERE m.family_code = p_family_code;

    RETURN format(
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
                WHERE $3 IS NULL OR t.n = ANY($3)
                ORDER BY t.n
            ) AS c
        ),
        keyed AS MATERIALIZED (
            SELECT
                t.*, c.criteria, k.key_text, sha256(convert_to(k.key_text, 'UTF8')) AS key_hash
            FROM typed AS t
            CROSS JOIN LATERAL (SELECT %4$s AS criteria) AS c
            CROSS JOIN LATERAL (SELECT %3$s AS key_text) AS k
        ),
        %8$s
        inserted AS (
            INSERT INTO %1$s (
                task_id, task_type, lane, priority, execution_time, status, attempt, suspension_id,
                created_at, schedule_code, key_hash, payload %5$s
            )
            SELECT
                c.task_id, ($4).task_type, omd_dispatch._lane($4, c.criteria), c.priority,
                c.execution_time, 'PENDING', 0,
                CASE
                    WHEN $8 THEN omd_dispatch._matching_suspension(
                        ($4).family_code, ($4).task_type, c.criteria
                    )
                END,
                clock_timestamp(), $7, c.key_hash, c.payload %6$s
            FROM keyed AS c
            %9$s
            RETURNING task_id
        )%7$s
        SELECT
            array_agg(
                ROW(
                    k.n, k.task_id, k.key_hash, k.key_text,
                    k.execution_time <= clock_timestamp(), %10$s
                )::omd_dispatch.created_task
                ORDER BY k.n
            )
        FROM keyed AS k
        %11$s
        $sql$,
        omd_dispatch._model_table(p_family_code, p_old_type IS NULL),
        v_values,
        omd_dispatch._key_sql(p_family_code, '($4).task_type', '$5'),
        omd_dispatch._criteria_sql(p_family_code, TRUE),
        CASE WHEN p_old_type IS NULL THEN v_columns || ', partition_code' ELSE '' END,
        CASE WHEN p_old_type IS NULL THEN v_columns || ', $6' ELSE '' END,
        CASE
            WHEN p_old_type IS NULL THEN ''
            ELSE format(
                ', described AS (INSERT INTO %s (task_id, criterion, criterion_value)'
                ' SELECT i.task_id, v.key, v.value FROM inserted AS i'
                ' INNER JOIN keyed AS k ON i.task_id = k.task_id'
                ' CROSS JOIN LATERAL jsonb_each_text(k.criteria) AS v)',
                omd_dispatch._job_table(p_old_type, 'criteria_value_')
            )
        END,
        CASE
            WHEN v_has_key
                THEN $held$
                held AS (
                    INSERT INTO omd_dispatch.mutex (
                        key_hash, family_code, task_type, key_text, task_id
                    )
                    SELECT k.key_hash, ($4).family_code, ($4).task_type, k.key_text, k.task_id
                    FROM keyed AS k
                    WHERE k.key_text IS NOT NULL
                    ORDER BY k.key_hash, k.n
                    ON CONFLICT (key_hash) DO NOTHING
                    RETURNING task_id
                ),
                $held$
        END,
        CASE
            WHEN v_has_key
                THEN 'WHERE c.key_text IS NULL OR c.task_id IN (SELECT h.task_id FROM held AS h)'
        END,
        CASE WHEN v_has_key THEN 'i.task_id IS NOT NULL' ELSE 'TRUE' END,
        CASE WHEN v_has_key THEN 'LEFT JOIN inserted AS i ON k.task_id = i.task_id' END
    );
END
$create_sql$;

COMMENT ON FUNCTION omd_dispatch._create_sql IS
'Returns the statement that creates tasks of p_family_code, in its new model or, for the type '
'p_old_type, in its old one. It answers an array of created_task, in their order. Locks: none.';
