-- Rows of users are counted with the rights of the caller, and what he lacks is a problem.

CREATE OR REPLACE FUNCTION omd_decision.recall_effects(
    p_instance_array bigint[],
    p_is_counted boolean DEFAULT TRUE,
    p_row_counts jsonb DEFAULT NULL
)
RETURNS TABLE (
    module_instance_id bigint,
    delivery_id bigint,
    table_code text,
    action text,
    rows_go bigint,
    rows_back bigint,
    comes_again text,
    problem text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $recall_effects$
DECLARE
    v_stage record;
    v_relation oid;
    v_go jsonb;
BEGIN
    delivery_id := NULL;
    comes_again := 'the window';
    FOR v_stage IN SELECT s.* FROM omd_decision._recalled_stages(p_instance_array) AS s LOOP
        table_code := v_stage.table_code;
        FOREACH module_instance_id IN ARRAY v_stage.executing_array LOOP
            action := 'GIVE_UP';
            rows_go := NULL;
            rows_back := NULL;
            problem := NULL;
            RETURN NEXT;
        END LOOP;
        FOREACH table_code IN ARRAY v_stage.tables LOOP
            v_relation := omd.target_relation(table_code);
            problem := coalesce(
                omd._missing_right(v_relation, '{SELECT,DELETE}'),
                omd.find_references(
                    v_relation, quote_ident(v_stage.insert_column), v_stage.instance_array,
                    p_instance_array
                )
            );
            action := CASE WHEN problem IS NULL THEN 'UNDO' ELSE 'BLOCKED' END;
            v_go := NULL;
            IF p_is_counted AND problem IS NULL THEN
                SELECT jsonb_object_agg(c.module_instance_id, c.rows_go) INTO v_go
                FROM omd.recall_counts(
                    omd.quote_table(table_code, 'POSTGRES'), quote_ident(v_stage.insert_column),
                    NULL, v_stage.instance_array
                ) AS c;
            END IF;
            FOREACH module_instance_id IN ARRAY v_stage.instance_array LOOP
                rows_go := CASE
                    WHEN v_go IS NOT NULL
                        THEN coalesce((v_go ->> module_instance_id::text)::bigint, 0)
                END;
                rows_back := CASE WHEN v_go IS NOT NULL THEN 0::bigint END;
                RETURN NEXT;
            END LOOP;
        END LOOP;
        CONTINUE WHEN v_stage.tables <> '{}';
        -- No output is there any more, so nothing has to go.
        table_code := v_stage.table_code;
        action := 'UNDO';
        problem := NULL;
        FOREACH module_instance_id IN ARRAY v_stage.instance_array LOOP
            rows_go := CASE WHEN p_is_counted THEN 0::bigint END;
            rows_back := rows_go;
            RETURN NEXT;
        END LOOP;
    END LOOP;
END
$recall_effects$;

COMMENT ON FUNCTION omd_decision.recall_effects IS
'For rooms: Returns what it would do to take back those of the runs p_instance_array that are runs '
'of stages: a row per run and output, with action UNDO, GIVE_UP or BLOCKED, the rows that go, how '
'it comes again and what is in the way. p_is_counted FALSE: no rows are counted; p_row_counts: '
'that of each room, and not used. It reads with the rights of the caller. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision.recall_effects TO omd_admin;
