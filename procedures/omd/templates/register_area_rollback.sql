-- What a template says is executed, so nobody writes the rows themselves. The standard rows are
-- written anew by each installation.

CREATE OR REPLACE PROCEDURE omd.register_area_rollback(
    p_area_code text,
    p_statement_template text DEFAULT NULL,
    p_table_type_code text DEFAULT NULL,
    p_platform_code text DEFAULT NULL,
    p_table_format_code text DEFAULT NULL,
    p_step integer DEFAULT 1,
    p_count_template text DEFAULT NULL,
    p_keeps_rows boolean DEFAULT NULL,
    p_is_removed boolean DEFAULT FALSE
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_area_rollback$
DECLARE
    v_area_code CONSTANT text := omd.require_code('area', p_area_code);
    v_table_type_code CONSTANT text := omd.require_code('table type', p_table_type_code);
    v_platform_code CONSTANT text := coalesce(
        omd.require_code('platform', p_platform_code), 'POSTGRES'
    );
    v_table_format_code CONSTANT text := omd.require_code('table format', p_table_format_code);
    v_missing CONSTANT text := CASE
        WHEN v_area_code IS NULL THEN 'p_area_code'
        WHEN p_step IS NULL THEN 'p_step'
        WHEN p_is_removed IS NULL THEN 'p_is_removed'
        WHEN NOT p_is_removed AND p_statement_template IS NULL THEN 'p_statement_template'
    END;
    v_unknown text;
BEGIN
    IF v_missing IS NOT NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', v_missing));
    ELSIF p_step < 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object('argument', 'p_step', 'value', p_step, 'expected', '1 or more')
        );
    ELSIF p_is_removed THEN
        DELETE FROM omd.rollback_template AS t
        WHERE t.area_code = v_area_code
            AND t.table_type_code IS NOT DISTINCT FROM v_table_type_code
            AND t.platform_code = v_platform_code
            AND t.table_format_code IS NOT DISTINCT FROM v_table_format_code
            AND t.step = p_step;
        RETURN;
    END IF;
    v_unknown := CASE
        WHEN p_statement_template ~ '^[[:space:]]*$' OR p_count_template ~ '^[[:space:]]*$'
            THEN 'a blank one'
        ELSE omd._unknown_placeholder(p_statement_template, p_count_template)
    END;
    IF v_unknown IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_statement_template',
                'value', v_unknown,
                'expected', 'a statement with the placeholders that '
                'omd.rollback_template.statement_template lists'
            )
        );
    END IF;
    INSERT INTO omd.rollback_template AS t (
        area_code, table_type_code, platform_code, table_format_code, step, statement_template,
        count_template, keeps_rows
    )
    VALUES (
        v_area_code,
        v_table_type_code,
        v_platform_code,
        v_table_format_code,
        p_step,
        p_statement_template,
        p_count_template,
        coalesce(p_keeps_rows, FALSE)
    )
    ON CONFLICT (
        area_code, table_type_code, platform_code, table_format_code, module_id, step
    ) DO UPDATE SET
        statement_template = excluded.statement_template,
        count_template = excluded.count_template,
        keeps_rows = coalesce(p_keeps_rows, t.keeps_rows);
END
$register_area_rollback$;

COMMENT ON PROCEDURE omd.register_area_rollback IS
'Inserts or updates the step p_step (1) of how the Modules of the area p_area_code are rolled back '
'that have no rollback of their own. p_statement_template: one statement, with the placeholders '
'that omd.rollback_template.statement_template describes. p_table_type_code: only targets of this '
'type; NULL: those of any type that has none. p_platform_code: POSTGRES (the default) or SPARK. '
'p_table_format_code: the format of a target on Spark; NULL: it has none. p_step: its number, 1 '
'when none is given. p_count_template: a SELECT of the number of rows it would touch, for '
'preview_rollback. p_keeps_rows: TRUE where rows of undone runs stay on purpose; NULL keeps the '
'present value, FALSE at first. p_is_removed: TRUE removes the step, or does nothing where there '
'is none. An installation writes the standard ones anew. Errors: OM005, OM006, OM013. Locks: the '
'row. DIRECT, "Rollback Procedures". Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.register_area_rollback TO omd_admin;
