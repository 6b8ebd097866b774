-- The templates of one Module are filled in here; who calls puts the Modules in order. What a run
-- did to lake tables no statement of an engine takes back. The text of such a step is a comment, on
-- one line whatever is in a hint, so that nothing happens where somebody executes it.

CREATE OR REPLACE FUNCTION omd._rollback_statements(
    p_module_id integer,
    p_instance_array bigint[]
)
RETURNS TABLE (
    step integer,
    platform_code text,
    statement_kind text,
    statement text,
    count_statement text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $rollback_statements$
DECLARE
    v_module omd.module;
    v_is_here boolean;
    v_table text;
    v_missing record;
    v_templates omd.rollback_template[];
    v_values jsonb;
BEGIN
    SELECT m.* INTO v_module FROM omd.module AS m WHERE m.module_id = p_module_id;
    v_is_here := v_module.platform_code = 'POSTGRES';

    v_table := omd.quote_table(v_module.table_code, v_module.platform_code);
    IF v_table IS NULL THEN
        PERFORM omd.raise_error(
            'OM009',
            jsonb_build_object(
                'table_code', v_module.table_code, 'platform_code', v_module.platform_code
            )
        );
    ELSIF v_is_here AND NOT omd.target_exists(v_module.table_code) THEN
        PERFORM omd.raise_error(
            'OM202',
            jsonb_build_object(
                'module_code', v_module.module_code, 'table_code', v_module.table_code
            )
        );
    END IF;

    SELECT array_agg(t ORDER BY t.step) INTO v_templates
    FROM omd._fitting_templates(p_module_id) AS t;
    IF v_templates IS NULL THEN
        PERFORM omd.raise_error(
            'OM201',
            jsonb_build_object(
                'module_code', v_module.module_code,
                'area_code', v_module.area_code,
                'table_type_code', v_module.table_type_code,
                'platform_code', v_module.platform_code,
                'table_format_code', v_module.table_format_code,
                'and_format', coalesce(', table format ' || v_module.table_format_code, ''),
                'pending', p_instance_array
            )
        );
    END IF;

    -- A column that a statement names and the target lacks gets an error of its own instead of a
    -- syntax error.
    SELECT c.argument, c.column_name INTO v_missing
    FROM omd._missing_columns(p_module_id) AS c
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM205',
            jsonb_build_object(
                'module_code', v_module.module_code,
                'table_code', v_module.table_code,
                'argument', v_missing.argument,
                'column_name', v_missing.column_name
            )
        );
    END IF;

    v_values := omd._rollback_values(p_module_id, p_instance_array);
    RETURN QUERY
    SELECT
        t.step,
        v_module.platform_code,
        t.statement_kind,
        CASE
            WHEN t.statement_kind = 'LAKE'
                THEN
                    regexp_replace(
                        format(
                            '-- A step of the driver, no SQL: the next start of the Module '
                            'takes back Module Instances %s. %s',
                            v_values ->> 'instance_list',
                            coalesce(
                                omd.start_hint(p_module_id),
                                'Run: omd run module ' || omd.shell_argument(v_module.module_code)
                            )
                        ),
                        '\s+', ' ', 'g'
                    )
            ELSE omd._fill_template(t.statement_template, v_values)
        END,
        CASE
            WHEN t.count_template IS NOT NULL THEN omd._fill_template(t.count_template, v_values)
        END
    FROM unnest(v_templates) AS t
    ORDER BY t.step;
END
$rollback_statements$;

COMMENT ON FUNCTION omd._rollback_statements IS
'Returns the statements (step, platform_code, statement_kind, statement, and a SELECT that counts '
'its rows, or NULL) that undo the instances p_instance_array of the Module p_module_id in its own '
'target. Of a step of the driver (LAKE) it is a comment that says so, with the command that '
'performs it. It executes nothing. Errors: OM009, OM201, OM202, OM205. Locks: none. DIRECT, '
'"Rollback Procedures".';
REVOKE ALL ON FUNCTION omd._rollback_statements FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._rollback_statements TO omd_reader;
