-- Some areas have no standard rollback, so the user says how the target is undone. The default is
-- the standard rollback of HSTG on the platform of the target, which is written in one place. A
-- count belongs to its statement and is replaced with it.

CREATE OR REPLACE PROCEDURE omd.register_rollback(
    p_module_code text,
    p_statement_template text DEFAULT NULL,
    p_step integer DEFAULT 1,
    p_count_template text DEFAULT NULL,
    p_keeps_rows boolean DEFAULT NULL,
    p_is_removed boolean DEFAULT FALSE
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_rollback$
DECLARE
    v_module omd.module;
    v_present omd.rollback_template;
    v_new omd.rollback_template;
    v_unknown text;
BEGIN
    SELECT m.* INTO v_module FROM omd.module AS m
    WHERE m.module_id = omd._require_module(p_module_code)
    FOR NO KEY UPDATE;
    p_step := omd.require_argument('p_step', p_step);
    p_is_removed := omd.require_argument('p_is_removed', p_is_removed);
    IF p_step < 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object('argument', 'p_step', 'value', p_step, 'expected', '1 or more')
        );
    ELSIF p_is_removed AND num_nonnulls(p_statement_template, p_count_template, p_keeps_rows) > 0
    THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_is_removed', 'value', p_is_removed,
                'expected', 'FALSE where a template is given'
            )
        );
    END IF;
    IF EXISTS (SELECT FROM omd._undo_routines(v_module.module_id)) THEN
        PERFORM omd.raise_error(
            'OM209',
            jsonb_build_object(
                'module_code', p_module_code,
                'step', p_step,
                'problem', 'its room alone undoes its runs'
            )
        );
    END IF;
    IF p_is_removed THEN
        DELETE FROM omd.rollback_template AS t
        WHERE t.module_id = v_module.module_id AND t.step = p_step;
        RETURN;
    END IF;

    SELECT t.* INTO v_present
    FROM omd.rollback_template AS t
    WHERE t.module_id = v_module.module_id AND t.step = p_step;
    IF p_statement_template IS NOT NULL THEN
        v_new.statement_template := p_statement_template;
        v_new.count_template := p_count_template;
    ELSIF v_present.rollback_template_id IS NOT NULL THEN
        v_new.statement_template := v_present.statement_template;
        v_new.count_template := coalesce(p_count_template, v_present.count_template);
    ELSE
        SELECT t.statement_template, coalesce(p_count_template, t.count_template)
        INTO v_new.statement_template, v_new.count_template
        FROM omd.rollback_template AS t
        WHERE t.area_code = 'HSTG'
            AND t.table_type_code IS NULL
            AND t.platform_code = v_module.platform_code
            AND t.table_format_code IS NOT DISTINCT FROM v_module.table_format_code
        ORDER BY t.step
        LIMIT 1;
        IF NOT FOUND THEN
            PERFORM omd.raise_error(
                'OM209',
                jsonb_build_object(
                    'module_code', p_module_code,
                    'step', p_step,
                    'problem', format(
                        'there is no default for table format %s', v_module.table_format_code
                    )
                )
            );
        END IF;
    END IF;

    IF v_new.statement_template ~ '^[[:space:]]*$' OR v_new.count_template ~ '^[[:space:]]*$' THEN
        PERFORM omd.raise_error(
            'OM209',
            jsonb_build_object(
                'module_code', p_module_code, 'step', p_step, 'problem', 'it is blank'
            )
        );
    END IF;
    v_unknown := omd._unknown_placeholder(v_new.statement_template, v_new.count_template);
    IF v_unknown IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM209',
            jsonb_build_object(
                'module_code', p_module_code,
                'step', p_step,
                'problem', format('there is no placeholder "%s"', v_unknown)
            )
        );
    END IF;

    INSERT INTO omd.rollback_template AS t (
        module_id, step, statement_template, count_template, keeps_rows
    )
    VALUES (
        v_module.module_id,
        p_step,
        v_new.statement_template,
        v_new.count_template,
        coalesce(p_keeps_rows, FALSE)
    )
    ON CONFLICT (
        area_code, table_type_code, platform_code, table_format_code, module_id, step
    ) DO UPDATE SET
        statement_template = excluded.statement_template,
        count_template = excluded.count_template,
        keeps_rows = coalesce(p_keeps_rows, t.keeps_rows);
END
$register_rollback$;

COMMENT ON PROCEDURE omd.register_rollback IS
'Inserts or updates the step p_step (1) of how the Module p_module_code is rolled back; a Module '
'with steps of its own uses none of its area. A NULL argument keeps the present value. p_step: '
'its number, 1 when none is given. p_statement_template: one statement; at first NULL deletes by '
'the insert instance id. p_count_template: a SELECT of the number of rows it would touch, for '
'preview_rollback; a new statement without one is not counted. Both take the placeholders that '
'omd.rollback_template.statement_template describes. p_keeps_rows: TRUE where rows of undone runs '
'stay on purpose; else (FALSE at first) a rollback that leaves a row is refused. p_is_removed: '
'TRUE removes the step, or does nothing where there is none. Errors: OM002, OM005, OM013, OM209. '
'Locks: the Module row. DIRECT, "Rollback Procedures".';
GRANT EXECUTE ON PROCEDURE omd.register_rollback TO omd_admin;
