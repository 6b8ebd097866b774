-- A worker that has a task ends it under its number, so a claimed task stays. The criteria are read
-- in the master of the two models; what goes, goes from both.

CREATE OR REPLACE FUNCTION omd_dispatch._erase_tasks(
    p_family_code text,
    p_columns jsonb,
    p_keys jsonb,
    p_is_nulled boolean
)
RETURNS TABLE (outcome text, row_count bigint, remark text, tables text[])
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $erase_tasks$
DECLARE
    v_match text;
    v_place record;
    v_is_new boolean;
    v_ids bigint[];
    v_claimed bigint[];
BEGIN
    IF NOT EXISTS (
        SELECT FROM omd_dispatch.task_conf_family_desc AS f WHERE f.family_code = p_family_code
    ) THEN
        RETURN;
    END IF;
    PERFORM omd_dispatch._hold_model(p_family_code);
    SELECT string_agg(format('(%s)', m.condition), ' AND ') INTO v_match
    FROM (
        SELECT string_agg(
            format(
                '(%1$s #> %2$L = k.key -> %3$L OR %1$s #>> %2$L = k.key ->> %3$L)',
                CASE WHEN c.name LIKE 'payload.%' THEN 't.payload' ELSE 'c.criteria' END,
                CASE
                    WHEN c.name LIKE 'payload.%' THEN string_to_array(substr(c.name, 9), '.')
                    ELSE ARRAY[c.name]
                END,
                c.attribute
            ),
            ' OR '
        ) AS condition
        FROM jsonb_each_text(p_columns) AS c (name, attribute)
        GROUP BY c.attribute
    ) AS m;
    EXECUTE format(
        'SELECT array_agg(t.task_id) FILTER (WHERE t.status <> ''CLAIMED''),'
        ' array_agg(t.task_id) FILTER (WHERE t.status = ''CLAIMED'')'
        ' FROM (SELECT t.* FROM %1$s AS t'
        ' CROSS JOIN LATERAL (SELECT %2$s AS criteria) AS c'
        ' WHERE EXISTS (SELECT FROM jsonb_array_elements($1) AS k (key) WHERE %3$s)'
        ' ORDER BY t.task_id FOR UPDATE OF t) AS t',
        omd_dispatch._model_table(p_family_code), omd_dispatch._criteria_sql(p_family_code), v_match
    ) INTO v_ids, v_claimed USING p_keys;
    IF p_is_nulled THEN
        v_ids := v_ids || v_claimed;
        v_claimed := NULL;
    END IF;
    tables := ARRAY['omd_dispatch.mutex'] || ARRAY(
        SELECT t.name
        FROM (VALUES (TRUE), (FALSE)) AS m (is_new)
        CROSS JOIN LATERAL omd_dispatch._model_table(p_family_code, m.is_new) AS t (name)
        WHERE to_regclass(t.name) IS NOT NULL
    );
    outcome := CASE WHEN p_is_nulled THEN 'NULLED' ELSE 'DELETED' END;
    row_count := coalesce(cardinality(v_ids), 0)::bigint;
    RETURN NEXT;
    FOREACH v_is_new IN ARRAY ARRAY[TRUE, FALSE] LOOP
        CONTINUE WHEN to_regclass(omd_dispatch._model_table(p_family_code, v_is_new)) IS NULL;
        IF NOT p_is_nulled THEN
            PERFORM omd_dispatch._remove_copy(p_family_code, v_is_new, t.id)
            FROM unnest(v_ids) AS t (id);
            CONTINUE;
        END IF;
        FOR v_place IN
            SELECT c.name, string_to_array(substr(c.name, 9), '.') AS path,
                c.name LIKE 'payload.%' AS is_payload
            FROM jsonb_object_keys(p_columns) AS c (name)
            ORDER BY c.name
        LOOP
            IF v_place.is_payload THEN
                EXECUTE format(
                    'UPDATE %s AS t SET payload = jsonb_set(t.payload, $2, ''null'', FALSE)'
                    ' WHERE t.task_id = ANY($1) AND t.payload #> $2 IS NOT NULL',
                    omd_dispatch._model_table(p_family_code, v_is_new)
                ) USING v_ids, v_place.path;
            ELSIF v_is_new THEN
                EXECUTE format(
                    'UPDATE %s AS t SET %I = NULL WHERE t.task_id = ANY($1)',
                    omd_dispatch._data_table(p_family_code), 'func_' || lower(v_place.name)
                ) USING v_ids;
            ELSE
                EXECUTE format(
                    'DELETE FROM omd_dispatch.%I AS c'
                    ' WHERE c.task_id = ANY($1) AND c.criterion = $2',
                    'old_task_criteria_' || lower(p_family_code)
                ) USING v_ids, v_place.name;
            END IF;
        END LOOP;
    END LOOP;
    IF NOT p_is_nulled THEN
        DELETE FROM omd_dispatch.mutex AS m WHERE m.task_id = ANY(v_ids);
    END IF;
    IF v_claimed IS NOT NULL THEN
        outcome := 'KEPT';
        row_count := cardinality(v_claimed)::bigint;
        remark := 'workers have these tasks; erase again when they have ended';
        RETURN NEXT;
    END IF;
END
$erase_tasks$;

COMMENT ON FUNCTION omd_dispatch._erase_tasks IS
'Deletes the tasks of the family p_family_code that have one of p_keys in p_columns, '
'{"payload.<path>" or a criterion: attribute of the key}; p_is_nulled: empties these. Returns how '
'many, how many stay because workers have them, and the tables that they were in. Locks: the '
'model of the family, shared; the tasks, their keys.';
