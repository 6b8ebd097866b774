-- What creates, claims and ends tasks are the statements that run most, and each second some look
-- for claims and marks that nobody cares for any more. As text over the table of a family they
-- would be planned at each call, over all partitions, which takes longer than to execute them. So
-- each family has functions of its own, whose plans a session keeps. The settings make their plans
-- right for tables of any size: indexes only, even when they were made while the tables were empty
-- or never analysed; = ANY(ARRAY[x]) instead of = x keeps the planner from reading a whole index of
-- an empty partition, which may be full when the plan is used.
--
-- Each function has a template beside this file, which shows it as it comes out. What its names in
-- braces stand for is said here, and what its tags do by omd._render; docs/explanation/tasks.md has
-- a finished family. The families that exist get a change of these texts at an upgrade, from
-- sql/reference/omd_dispatch/codes.sql.

CREATE OR REPLACE PROCEDURE omd_dispatch._make_claims(
    p_family_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $make_claims$
DECLARE
    c_path CONSTANT text := 'SET search_path = pg_catalog, pg_temp';
    c_times CONSTANT text := E'\nSET datestyle = ''ISO, YMD''\nSET timezone = ''UTC''';
    c_plans CONSTANT text := E'\nSET plan_cache_mode = force_generic_plan\nSET jit = off';
    c_indexes_only CONSTANT text := E'\nSET enable_seqscan = off\nSET enable_bitmapscan = off'
        '\nSET enable_hashjoin = off\nSET enable_mergejoin = off\nSET enable_sort = off';
    v_has_times CONSTANT boolean := EXISTS (
        SELECT FROM omd_dispatch.task_conf_family_model AS m
        WHERE m.family_code = p_family_code AND m.data_type IN ('date', 'timestamptz')
    );
    v_function text;
    v_statement text;
BEGIN
    FOR v_function, v_statement IN
        WITH model AS MATERIALIZED (
            SELECT
                m.is_new,
                jsonb_build_object(
                    'code', p_family_code,
                    'family', quote_literal(p_family_code),
                    'table', omd_dispatch._model_table(p_family_code, m.is_new),
                    'lock', quote_ident('task_model_' || lower(p_family_code)),
                    'criteria', omd_dispatch._criteria_sql(p_family_code, m.is_new),
                    -- The old model has no partitions, but a table for each type.
                    'partition', m.partition,
                    'part', CASE WHEN m.is_new THEN 'partition_code' ELSE 'task_type' END,
                    -- Where "end" looks for a task: in the partition of the first one, in all.
                    'passes', jsonb_build_array(
                        jsonb_build_object('pass', 1, 'here', m.partition || ' = r.partition_code'),
                        jsonb_build_object('pass', 2, 'here', 'TRUE')
                    ),
                    'insert_statement', omd_dispatch._create_sql(p_family_code),
                    'create_body', omd_dispatch._create_one_sql(p_family_code),
                    'settings', E'SECURITY DEFINER\n' || c_path || c_times || c_plans
                    || c_indexes_only,
                    'insert_settings', E'SECURITY DEFINER\n' || c_path || c_times || c_plans,
                    'create_settings', c_path || CASE WHEN v_has_times THEN c_times ELSE '' END
                ) AS data
            FROM (VALUES (TRUE, 't.partition_code'), (FALSE, '0')) AS m (is_new, partition)
            WHERE to_regclass(omd_dispatch._model_table(p_family_code, m.is_new)) IS NOT NULL
        )

        SELECT
            n.function,
            omd._render(
                t.template, m.data || jsonb_build_object('function', n.function)
            ) AS statement
        FROM (
            VALUES
            ('due', FALSE, omd_dispatch._due_template()),
            ('other', FALSE, omd_dispatch._other_template()),
            ('claim', FALSE, omd_dispatch._claim_template()),
            ('take', TRUE, omd_dispatch._take_template()),
            ('done', FALSE, omd_dispatch._done_template()),
            ('end', FALSE, omd_dispatch._end_template()),
            ('lost', FALSE, omd_dispatch._lost_template()),
            ('stray', FALSE, omd_dispatch._stray_template()),
            ('insert', TRUE, omd_dispatch._insert_template()),
            ('create', TRUE, omd_dispatch._create_template())
        ) AS t (name, is_for_new, template)
        INNER JOIN model AS m ON m.is_new OR NOT t.is_for_new
        CROSS JOIN LATERAL (
            SELECT format(
                'omd_dispatch.%I', omd_dispatch._claim_routine(p_family_code, t.name, m.is_new)
            ) AS function
        ) AS n
    LOOP
        EXECUTE v_statement;
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', v_function);
    END LOOP;
    CALL omd_dispatch._set_rights(p_family_code);
END
$make_claims$;

COMMENT ON PROCEDURE omd_dispatch._make_claims IS
'Makes the functions of p_family_code that find, claim and end its tasks, in each model that it '
'has, and those for new tasks in the new one, or makes them again. Locks: none.';
