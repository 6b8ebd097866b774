-- Everything that a rollback needs to know is asked here, once. With the values of each call the
-- statements would be planned anew, which takes longer than they run.
--
-- A foreign key leaves a trigger for DELETE (bit 8 of its type) at the table that it refers to: of
-- one without such a trigger and without children a DELETE takes no other row. What a run did to
-- lake tables no statement of an engine takes back: the text of such a step is a comment, on one
-- line whatever is in a hint, so that nothing happens where somebody executes it. The check counts,
-- since the planner plans it like the DELETE; a search for the first row would read the whole table
-- where the planner expects a row soon. A template that keeps rows is not checked, and neither is a
-- target without a column of instance ids.

CREATE OR REPLACE FUNCTION omd._rollback_plan(
    p_module_instance_id bigint,
    p_without_steps boolean DEFAULT FALSE
)
RETURNS TABLE (
    place integer,
    module_id integer,
    module_code text,
    platform_code text,
    table_code text,
    insert_instance_column text,
    is_table boolean,
    is_referenced boolean,
    instance_array bigint[],
    check_statement text,
    step integer,
    statement_kind text,
    statement text,
    count_statement text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $rollback_plan$
DECLARE
    v_part record;
    v_module omd.module;
    v_way record;
    v_template omd.rollback_template;
    v_values jsonb;
BEGIN
    FOR v_part IN
        SELECT
            p.place,
            p.instance_array,
            m AS module,
            c.oid AS relation,
            c.relkind IN ('r', 'p') AS is_table,
            c.relkind <> 'r'
            OR c.relhassubclass
            OR (
                c.relhastriggers
                AND EXISTS (
                    SELECT FROM pg_trigger AS g
                    WHERE g.tgrelid = c.oid AND g.tgconstrrelid <> 0 AND g.tgtype & 8 <> 0
                )
            ) AS is_referenced,
            EXISTS (
                SELECT FROM pg_attribute AS a
                INNER JOIN pg_type AS t ON a.atttypid = t.oid
                WHERE a.attrelid = c.oid
                    AND a.attname::text = m.insert_instance_column
                    AND a.attnum > 0
                    AND NOT a.attisdropped
                    AND t.typcategory = 'N'
            ) AS has_stamp
        FROM omd._rollback_parts(p_module_instance_id) AS p
        INNER JOIN omd.module AS m ON p.module_id = m.module_id
        CROSS JOIN LATERAL omd.target_relation(
            CASE WHEN m.platform_code = 'POSTGRES' THEN m.table_code END
        ) AS r (relation)
        LEFT JOIN pg_class AS c ON r.relation = c.oid
        ORDER BY p.place
    LOOP
        v_module := v_part.module;
        place := v_part.place;
        module_id := v_module.module_id;
        module_code := v_module.module_code;
        platform_code := v_module.platform_code;
        table_code := v_module.table_code;
        insert_instance_column := v_module.insert_instance_column;
        is_table := v_part.is_table;
        is_referenced := v_part.is_referenced;
        instance_array := v_part.instance_array;
        SELECT
            array_agg(t ORDER BY t.step) AS templates,
            bool_or(t.keeps_rows) AS keeps_rows,
            (
                SELECT to_jsonb(c) FROM omd._missing_columns(v_module.module_id) AS c LIMIT 1
            ) AS missing
        INTO v_way
        FROM omd._fitting_templates(v_module.module_id) AS t;
        check_statement := CASE
            WHEN v_part.has_stamp AND v_way.keeps_rows IS NOT TRUE
                THEN
                    format(
                        'SELECT count(*) FROM %s WHERE %I = ANY (%L::bigint[])',
                        omd.quote_table(table_code, platform_code),
                        insert_instance_column,
                        instance_array
                    )
        END;
        IF p_without_steps THEN
            RETURN NEXT;
            CONTINUE;
        END IF;

        IF omd.quote_table(table_code, platform_code) IS NULL THEN
            PERFORM omd.raise_error(
                'OM009',
                jsonb_build_object('table_code', table_code, 'platform_code', platform_code)
            );
        ELSIF platform_code = 'POSTGRES' AND v_part.relation IS NULL THEN
            PERFORM omd.raise_error(
                'OM202',
                jsonb_build_object('module_code', module_code, 'table_code', table_code)
            );
        ELSIF v_way.templates IS NULL THEN
            PERFORM omd.raise_error(
                'OM201',
                jsonb_build_object(
                    'module_code', module_code,
                    'area_code', v_module.area_code,
                    'table_type_code', v_module.table_type_code,
                    'platform_code', platform_code,
                    'table_format_code', v_module.table_format_code,
                    'and_format',
                    coalesce(', table format ' || v_module.table_format_code, ''),
                    'pending', instance_array
                )
            );
        ELSIF v_way.missing IS NOT NULL THEN
            -- A column that a statement names and the target lacks gets an error of its own instead
            -- of a syntax error.
            PERFORM omd.raise_error(
                'OM205',
                jsonb_build_object('module_code', module_code, 'table_code', table_code)
                || v_way.missing
            );
        END IF;

        v_values := omd._rollback_values(module_id, instance_array);
        FOREACH v_template IN ARRAY v_way.templates LOOP
            step := v_template.step;
            statement_kind := v_template.statement_kind;
            count_statement := NULL;
            IF statement_kind = 'LAKE' THEN
                statement := regexp_replace(
                    format(
                        '-- A step of the driver, no SQL: the next start of the Module takes back '
                        'Module Instances %s. %s',
                        v_values ->> 'instance_list',
                        coalesce(
                            omd.start_hint(module_id),
                            'Run: omd run ' || omd.shell_argument(module_code)
                        )
                    ),
                    '\s+', ' ', 'g'
                );
            ELSE
                statement := omd._render(v_template.statement_template, v_values);
            END IF;
            IF v_template.count_template IS NOT NULL THEN
                count_statement := omd._render(v_template.count_template, v_values);
            END IF;
            RETURN NEXT;
        END LOOP;
    END LOOP;
END
$rollback_plan$;

COMMENT ON FUNCTION omd._rollback_plan IS
'Returns what a rollback of the Module Instance executes, or, if nothing was decided for it, what '
'a begin of its Module would execute now, in its order: for each Module (place) its target, '
'whether that is a table, whether foreign keys may refer to it or to a part of it, the instances, '
'and in check_statement a SELECT that counts their rows that are still there (NULL: this is not '
'looked at); for each of its steps statement_kind, the statement, and a SELECT that counts its '
'rows, or NULL. Of a step of the driver (LAKE) the statement is a comment that says so, with the '
'command that performs it. There is no row when nothing is pending. p_without_steps: a row for '
'each Module, where what would hinder a statement is no error. It executes nothing. Errors: '
'OM004, OM005, OM009, OM201, OM202, OM205. Locks: none. DIRECT, "Rollback Procedures".';
GRANT EXECUTE ON FUNCTION omd._rollback_plan TO omd_reader;
