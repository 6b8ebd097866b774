-- This is the only place that knows the placeholders of a rollback template.

CREATE OR REPLACE FUNCTION omd._rollback_values(
    p_module_id integer,
    p_instance_array bigint[]
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $rollback_values$
DECLARE
    v_row record;
    v_module omd.module;
    v_keys text[];
    v_platform_code text;
    v_is_here boolean;
    v_table text;
    v_literal text;
    v_insert_column text;
    v_update_column text;
    v_is_boolean boolean;
    v_equals text;
    v_values jsonb;
BEGIN
    SELECT
        m AS module,
        (
            SELECT jsonb_object_agg(a.attname, a.atttypid::integer)
            FROM pg_attribute AS a
            WHERE a.attrelid = r.relation
                AND a.attname::text IN (m.update_instance_column, m.current_indicator_column)
                AND a.attnum > 0
                AND NOT a.attisdropped
        ) AS types,
        (
            SELECT array_agg(omd._quote_column(k.key_column, m.platform_code) ORDER BY k.n)
            FROM unnest(m.business_key_columns) WITH ORDINALITY AS k (key_column, n)
        ) AS keys
    INTO v_row
    FROM omd.module AS m
    CROSS JOIN LATERAL omd.target_relation(
        CASE WHEN m.platform_code = 'POSTGRES' THEN m.table_code END
    ) AS r (relation)
    WHERE m.module_id = p_module_id;
    v_module := v_row.module;
    v_keys := v_row.keys;
    v_platform_code := v_module.platform_code;
    v_is_here := v_platform_code = 'POSTGRES';
    v_table := omd.quote_table(v_module.table_code, v_platform_code);
    v_literal := coalesce(
        CASE WHEN v_is_here THEN v_table ELSE omd.spell_table(v_module.table_code) END,
        v_module.table_code
    );
    v_insert_column := omd._quote_column(v_module.insert_instance_column, v_platform_code);
    IF NOT v_is_here OR v_row.types ? v_module.update_instance_column THEN
        v_update_column := omd._quote_column(v_module.update_instance_column, v_platform_code);
    END IF;
    v_is_boolean := v_row.types ->> v_module.current_indicator_column = 'bool'::regtype::oid::text;
    -- Spark can join by an equality that treats two NULLs as equal; PostgreSQL has no such operator
    -- that it can join by.
    v_equals := CASE WHEN v_is_here THEN '=' ELSE '<=>' END;

    v_values := jsonb_build_object(
        'table', v_table,
        'table_literal', omd._quote_value(v_literal, v_platform_code),
        'insert_instance_column', v_insert_column,
        'update_instance_column', coalesce(v_update_column, 'NULL::bigint'),
        'and_reset_update', coalesce(', ' || v_update_column || ' = NULL', ''),
        'effective_date_column', omd._quote_column(
            v_module.effective_date_column, v_platform_code
        ),
        'expiry_date_column', omd._quote_column(v_module.expiry_date_column, v_platform_code),
        'current_indicator_column', omd._quote_column(
            v_module.current_indicator_column, v_platform_code
        ),
        'open_expiry_date', omd._quote_value(v_module.open_expiry_date, v_platform_code),
        'current_yes', CASE WHEN v_is_boolean THEN 'TRUE' ELSE '''Y''' END,
        'current_no', CASE WHEN v_is_boolean THEN 'FALSE' ELSE '''N''' END,
        'key_columns', array_to_string(v_keys, ', '),
        'key_join', (
            SELECT string_agg(format('t.%1$s %2$s c.%1$s', k.name, v_equals), ' AND ' ORDER BY k.n)
            FROM unnest(v_keys) WITH ORDINALITY AS k (name, n)
        ),
        'instance_array', format('%L::bigint[]', p_instance_array),
        'instance_list', array_to_string(p_instance_array, ', '),
        'partition_list', (
            SELECT
                string_agg(
                    format('PARTITION (%s = %s)', v_insert_column, i.id), ', ' ORDER BY i.id
                )
            FROM unnest(p_instance_array) AS i (id)
        )
    );
    -- What is unknown is the word NULL in a statement.
    RETURN (
        SELECT jsonb_object_agg(v.key, coalesce(v.value, 'NULL'))
        FROM jsonb_each_text(v_values) AS v
    );
END
$rollback_values$;

COMMENT ON FUNCTION omd._rollback_values IS
'Returns a JSON object with the value of each placeholder of a rollback template when the '
'instances p_instance_array of the Module p_module_id are undone. Locks: none.';
