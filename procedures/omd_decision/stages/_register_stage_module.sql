-- The area of a stage may have no rollback, and another version may have written to other
-- tables, so the stage registers its own: one statement for each table. In U&"…" a brace has
-- another spelling, so that it is no placeholder of the template.

CREATE OR REPLACE PROCEDURE omd_decision._register_stage_module(
    p_stage_id integer,
    p_definition jsonb,
    INOUT p_module_id integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_stage_module$
DECLARE
    v_messages CONSTANT text := current_setting('client_min_messages');
    v_code CONSTANT text := p_definition #>> '{module,module_code}';
    v_insert_column text;
    v_table text;
    v_where text;
    v_step integer := 0;
    v_most integer;
BEGIN
    -- save_module would warn that no rollback is registered, which happens only below.
    PERFORM set_config('client_min_messages', 'error', TRUE);
    CALL omd.save_module(
        v_code,
        p_area_code => p_definition #>> '{module,area_code}',
        p_table_code => p_definition #>> '{outputs,0,table}',
        p_platform_code => 'POSTGRES',
        p_module_id => p_module_id
    );
    PERFORM set_config('client_min_messages', v_messages, TRUE);
    v_insert_column := omd.insert_column(p_module_id);
    -- A stage has several outputs, and its Module one target. Whoever reads one of them goes by its
    -- runs.
    PERFORM omd.declare_runs(
        p_module_id,
        ARRAY(
            SELECT DISTINCT o.item ->> 'table'
            FROM omd.json_items(p_definition -> 'outputs') AS o
            WHERE o.item ->> 'table' IS NOT NULL
        )
    );
    v_where := format(' WHERE %I = ANY ({instance_array})', v_insert_column);

    FOR v_table IN
        SELECT t.table_code
        FROM (
            SELECT
                o.item ->> 'table' AS table_code,
                min(o.ordinal) AS place,
                max(v.version) AS version
            FROM omd_decision.stage_version AS v
            CROSS JOIN LATERAL omd.json_items(v.definition -> 'outputs') AS o
            WHERE v.stage_id = p_stage_id
            GROUP BY 1
        ) AS t
        WHERE omd.target_column_type(t.table_code, v_insert_column) IS NOT NULL
        ORDER BY t.version DESC, t.place, t.table_code
    LOOP
        v_step := v_step + 1;
        v_table := CASE
            WHEN v_table !~ '[{}]' THEN v_table
            ELSE (
                SELECT
                    string_agg(
                        'U&"'
                        || replace(
                            replace(
                                replace(replace(p.part, '\', '\\'), '"', '""'), '{', '\007B'
                            ),
                            '}', '\007D'
                        )
                        || '"',
                        '.' ORDER BY p.n
                    )
                FROM unnest(parse_ident(v_table)) WITH ORDINALITY AS p (part, n)
            )
        END;
        CALL omd.register_rollback(
            v_code,
            'DELETE FROM ' || v_table || v_where,
            v_step,
            'SELECT count(*) FROM ' || v_table || v_where
        );
    END LOOP;
    SELECT count(DISTINCT o.item ->> 'table')::integer INTO v_most
    FROM omd_decision.stage_version AS v
    CROSS JOIN LATERAL omd.json_items(v.definition -> 'outputs') AS o
    WHERE v.stage_id = p_stage_id;
    FOR v_step IN v_step + 1..v_most LOOP
        CALL omd.register_rollback(v_code, p_step => v_step, p_is_removed => TRUE);
    END LOOP;
    -- This call warns of what is still missing.
    CALL omd.save_module(v_code, p_module_id => p_module_id);
END
$register_stage_module$;

COMMENT ON PROCEDURE omd_decision._register_stage_module IS
'Registers the Module of the stage p_stage_id, which has the document p_definition now, and how '
'it is rolled back: a DELETE by instance in every output table that any version has named and '
'that still exists. Returns p_module_id. Errors: OM006: there is no such area; OM111: another '
'target while a rollback is pending or a run executes. Locks: the Module row.';
