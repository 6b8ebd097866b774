-- Answers the statements that undo the instances a Module Instance was told to undo. Executes
-- nothing. A Module's own template counts alone, then one for its area, platform and table type,
-- then one for every type. Errors: OM004, OM005, OM009, OM201, OM202. Locks: none.

CREATE OR REPLACE FUNCTION omd.build_rollback_sql(
    p_module_instance_id bigint
)
RETURNS TABLE (
    step integer,
    platform_code text,
    statement text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $build_rollback_sql$
DECLARE
    v_instance omd.module_instance;
    v_module omd.module;
    v_array bigint[];
    v_table text;
    v_values jsonb;
BEGIN
    SELECT mi.* INTO v_instance
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id AND mi.module_id IS NOT NULL;
    IF NOT FOUND THEN
        PERFORM omd.raise_module_instance_state(p_module_instance_id, 'be rolled back');
    END IF;
    SELECT m.* INTO v_module FROM omd.module AS m WHERE m.module_id = v_instance.module_id;

    -- What the evaluation has answered, else what a begin would roll back now.
    v_array := CASE
        WHEN v_instance.processing_indicator = 'R' THEN v_instance.rollback_instance_array
        ELSE omd.pending_rollback(v_module.module_id)
    END;
    IF v_array = '{}' THEN
        RETURN;
    END IF;

    v_table := omd.quote_table(v_module.table_code, v_module.platform_code);
    IF v_table IS NULL THEN
        PERFORM omd.raise_error(
            'OM009',
            jsonb_build_object(
                'table_code', v_module.table_code, 'platform_code', v_module.platform_code
            )
        );
    ELSIF v_module.platform_code = 'POSTGRES' AND NOT omd.target_exists(v_module.table_code) THEN
        PERFORM omd.raise_error(
            'OM202',
            jsonb_build_object(
                'module_code', v_module.module_code, 'table_code', v_module.table_code
            )
        );
    END IF;

    v_values := jsonb_build_object(
        'table', v_table,
        'insert_instance_column', omd.quote_column(
            v_module.insert_instance_column, v_module.platform_code
        ),
        'update_instance_column', omd.quote_column(
            v_module.update_instance_column, v_module.platform_code
        ),
        'instance_array', format('%L::bigint[]', v_array),
        'instance_list', array_to_string(v_array, ', ')
    );

    RETURN QUERY
    WITH candidate AS (
        SELECT
            t.step,
            t.statement_template,
            CASE
                WHEN t.module_id IS NOT NULL THEN 1
                WHEN t.table_type_code IS NOT NULL THEN 2
                ELSE 3
            END AS preference
        FROM omd.rollback_template AS t
        WHERE t.module_id = v_module.module_id
            OR (
                t.area_code = v_module.area_code
                AND t.platform_code = v_module.platform_code
                AND (t.table_type_code = v_module.table_type_code OR t.table_type_code IS NULL)
            )
    )

    SELECT
        c.step,
        v_module.platform_code,
        omd.fill_template(c.statement_template, v_values)
    FROM candidate AS c
    WHERE c.preference = (SELECT min(o.preference) FROM candidate AS o)
    ORDER BY c.step;

    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM201',
            jsonb_build_object(
                'module_code', v_module.module_code,
                'area_code', v_module.area_code,
                'table_type_code', v_module.table_type_code,
                'platform_code', v_module.platform_code,
                'pending', v_array
            )
        );
    END IF;
END
$build_rollback_sql$;

COMMENT ON FUNCTION omd.build_rollback_sql IS
'The statements (step, platform_code, statement) that undo what the Module Instance was told to '
'undo, or, for one that was not, what a begin of its Module would undo now. No row when nothing '
'is pending. Executes nothing. Errors: OM004, OM005, OM009, OM201, OM202. Locks: none. DIRECT, '
'"Rollback Procedures".';
REVOKE ALL ON FUNCTION omd.build_rollback_sql FROM PUBLIC;
