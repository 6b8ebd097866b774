-- The start of a mirror copies all tasks, and each change of a task copies that one anew.

CREATE OR REPLACE FUNCTION omd_dispatch._copy_tasks(
    p_family_code text,
    p_is_to_new boolean,
    p_task_id bigint DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
AS $copy_tasks$
DECLARE
    v_family omd_dispatch.task_conf_family_desc := omd_dispatch._require_family(p_family_code);
    v_old text := omd_dispatch._model_table(p_family_code, FALSE);
    v_columns text;
    v_criteria text;
    v_values text;
    v_task_type text;
BEGIN
    SELECT string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum) INTO v_columns
    FROM pg_attribute AS a
    WHERE a.attrelid = v_old::regclass AND a.attnum > 0 AND NOT a.attisdropped;
    SELECT
        coalesce(
            string_agg(format(', %I', 'func_' || lower(m.criterion)), '' ORDER BY m.criterion), ''
        ),
        coalesce(
            string_agg(
                format(', (c.criteria ->> %L)::%s', m.criterion, m.data_type),
                ''
                ORDER BY m.criterion
            ),
            ''
        )
    INTO v_criteria, v_values
    FROM omd_dispatch.task_conf_family_model AS m
    WHERE m.family_code = p_family_code;
    EXECUTE format(
        'INSERT INTO %s (%s%s) SELECT %s%s FROM %s AS t'
        ' CROSS JOIN LATERAL (SELECT %s AS criteria) AS c%s',
        omd_dispatch._model_table(p_family_code, p_is_to_new),
        v_columns,
        CASE WHEN p_is_to_new THEN ', partition_code' || v_criteria ELSE '' END,
        v_columns,
        CASE WHEN p_is_to_new THEN ', $1' || v_values ELSE '' END,
        omd_dispatch._model_table(p_family_code, NOT p_is_to_new),
        omd_dispatch._criteria_sql(p_family_code, NOT p_is_to_new),
        CASE WHEN p_task_id IS NULL THEN '' ELSE ' WHERE t.task_id = $2' END
    ) USING omd_dispatch._partition_code(
        v_family.scheme_code, v_family.partition_count, clock_timestamp()
    ), p_task_id;
    IF p_is_to_new THEN
        RETURN;
    END IF;
    FOR v_task_type IN
        SELECT j.task_type FROM omd_dispatch.job_type AS j WHERE j.family_code = p_family_code
    LOOP
        EXECUTE format(
            'INSERT INTO %s (task_id, criterion, criterion_value) SELECT t.task_id, c.key, c.value'
            ' FROM %s AS t CROSS JOIN LATERAL jsonb_each_text(%s) AS c WHERE t.task_type = $1%s',
            omd_dispatch._job_table(v_task_type, 'criteria_value_'),
            omd_dispatch._data_table(p_family_code),
            omd_dispatch._criteria_sql(p_family_code, TRUE),
            CASE WHEN p_task_id IS NULL THEN '' ELSE ' AND t.task_id = $2' END
        ) USING v_task_type, p_task_id;
    END LOOP;
END
$copy_tasks$;

COMMENT ON FUNCTION omd_dispatch._copy_tasks IS
'Copies the tasks of p_family_code, or the task p_task_id, from the old to the new model, or with '
'p_is_to_new FALSE the other way; the copy must not have them yet. Locks: none.';
