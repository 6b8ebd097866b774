-- Rows of a run are found by its stamp, never by TRUNCATE: other runs may have written since. A
-- plain DELETE answers how many rows of each run it took; statements of another kind don't, so the
-- rows are counted before. What refers to others is undone before these.

CREATE OR REPLACE FUNCTION omd._recall_parts(
    p_instance_array bigint[]
)
RETURNS TABLE (
    place integer,
    module_id integer,
    module_code text,
    table_code text,
    way text,
    instance_array bigint[],
    relation oid,
    table_name text,
    stamp text,
    update_stamp text,
    statements text[],
    count_statement text,
    is_plain boolean,
    keeps_rows boolean,
    problem text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $recall_parts$
DECLARE
    v_part record;
    v_templates omd.rollback_template[];
    v_values jsonb;
    v_instead record;
BEGIN
    place := 0;
    FOR v_part IN
        WITH run AS MATERIALIZED (
            SELECT
                mi.module_id,
                array_agg(mi.module_instance_id ORDER BY mi.module_instance_id) AS instance_array
            FROM omd.module_instance AS mi
            WHERE mi.module_instance_id = ANY(p_instance_array)
                AND mi.module_id IS NOT NULL
                AND mi.execution_status_code = 'S'
                AND mi.rolled_back_by_module_instance_id IS NULL
            GROUP BY mi.module_id
        ),

        target AS MATERIALIZED (
            SELECT
                r.module_id,
                u.relation
            FROM run AS r
            INNER JOIN omd.module AS m USING (module_id)
            CROSS JOIN LATERAL omd._undone_tables(
                omd.target_relation(m.table_code), m.insert_instance_column
            ) AS u
            WHERE m.platform_code = 'POSTGRES'
        )

        SELECT
            m AS module,
            r.instance_array
        FROM run AS r
        INNER JOIN omd.module AS m USING (module_id)
        ORDER BY
            (
                SELECT count(*)
                FROM target AS own
                CROSS JOIN LATERAL omd._referencing_tables(own.relation) AS f (relation)
                INNER JOIN target AS other ON f.relation = other.relation
                WHERE own.module_id = r.module_id
            ),
            r.instance_array[cardinality(r.instance_array)] DESC,
            r.module_id DESC
    LOOP
        place := place + 1;
        module_id := (v_part.module).module_id;
        module_code := (v_part.module).module_code;
        table_code := (v_part.module).table_code;
        instance_array := v_part.instance_array;
        way := CASE
            WHEN (v_part.module).platform_code = 'POSTGRES' THEN 'STATEMENTS' ELSE 'PENDING'
        END;
        relation := NULL;
        table_name := NULL;
        stamp := NULL;
        update_stamp := NULL;
        statements := NULL;
        count_statement := NULL;
        is_plain := FALSE;
        keeps_rows := FALSE;
        problem := NULL;
        SELECT array_agg(t ORDER BY t.step) INTO v_templates
        FROM omd._fitting_templates(module_id) AS t;
        IF way = 'STATEMENTS' THEN
            relation := omd.target_relation(table_code);
            table_name := omd.quote_table(table_code, 'POSTGRES');
            SELECT format('%I', s.column_name) INTO stamp
            FROM omd._stamp_column(module_id) AS s
            WHERE s.is_numeric;
        END IF;
        problem := CASE
            WHEN way = 'STATEMENTS' AND relation IS NULL
                THEN 'the table is not there'
            WHEN v_templates IS NULL
                THEN 'no rollback is registered for ' || module_code
            WHEN way = 'STATEMENTS' AND NOT omd._takes_delete(relation)
                AND NOT (SELECT bool_or(t.keeps_rows) FROM unnest(v_templates) AS t)
                THEN 'the view takes no DELETE'
            ELSE (
                SELECT
                    format('its rollback needs the column %s', coalesce(c.column_name, c.argument))
                FROM omd._missing_columns(module_id) AS c
                LIMIT 1
            )
        END;
        IF way = 'STATEMENTS' AND problem IS NULL THEN
            v_values := omd._rollback_values(module_id, instance_array);
            keeps_rows := (SELECT bool_or(t.keeps_rows) FROM unnest(v_templates) AS t);
            is_plain := EXISTS (
                SELECT FROM pg_class AS c
                WHERE c.oid = relation AND c.relkind = 'r' AND NOT c.relhastriggers
                    AND NOT c.relhasrules AND NOT c.relhassubclass
            );
            statements := ARRAY(
                SELECT omd._render(t.statement_template, v_values)
                FROM unnest(v_templates) AS t
                ORDER BY t.step
            );
            IF EXISTS (
                SELECT FROM unnest(v_templates) AS t
                WHERE t.statement_template ~* '^\s*TRUNCATE\M'
            ) THEN
                SELECT i.* INTO v_instead FROM omd._instead_of_truncate(module_id, instance_array) AS i;
                IF FOUND AND cardinality(statements) = 1 THEN
                    statements := ARRAY[v_instead.statement];
                    way := 'DELETE';
                ELSE
                    problem := CASE
                        WHEN v_instead.statement IS NULL AND stamp IS NULL
                            THEN 'the table has no column of instance ids'
                        ELSE 'its own rollback empties the table'
                    END;
                END IF;
            ELSIF cardinality(statements) = 1
                AND btrim(v_templates[1].statement_template)
                = 'DELETE FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})'
            THEN
                way := 'DELETE';
            ELSIF cardinality(statements) = 1
                AND v_templates[1].module_id IS NULL
                AND v_templates[1].statement_template LIKE '%{expiry_date_column}%'
            THEN
                way := 'REPAIR';
                count_statement := omd._render(v_templates[1].count_template, v_values);
                IF v_values ->> 'update_instance_column' <> 'NULL::bigint' THEN
                    update_stamp := v_values ->> 'update_instance_column';
                END IF;
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$recall_parts$;

COMMENT ON FUNCTION omd._recall_parts IS
'Returns how the runs p_instance_array are taken back by the rollback of their own Modules, with a '
'row per Module, in the order of undoing: way (DELETE: one statement that deletes by the stamp; '
'REPAIR: one that also repairs a history; STATEMENTS: others; PENDING: the target is not in this '
'database), those of the runs that stand, the target with its columns of instance ids, what to '
'execute, the SELECT that counts all that a REPAIR touches, whether nothing but the statement '
'itself decides what goes (is_plain), whether rows are kept, and what is in the way. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._recall_parts TO omd_admin;
