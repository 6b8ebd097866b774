-- Rows of users are counted with the rights of the caller, and what he lacks is a problem. What a
-- step has replaced of a run that goes as well comes back for a moment only, so it does not count.

CREATE OR REPLACE FUNCTION omd_lineage.recall_effects(
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
    v_topic record;
    v_relation oid;
    v_problem text;
    v_go jsonb;
    v_back jsonb;
    v_left bigint[];
BEGIN
    delivery_id := NULL;
    FOR v_topic IN SELECT t.* FROM omd_lineage._recalled_topics(p_instance_array) AS t LOOP
        table_code := v_topic.table_code;
        FOREACH module_instance_id IN ARRAY v_topic.executing_array LOOP
            action := 'GIVE_UP';
            rows_go := NULL;
            rows_back := NULL;
            comes_again := 'the block';
            problem := NULL;
            RETURN NEXT;
        END LOOP;
        CONTINUE WHEN v_topic.instance_array = '{}';
        v_problem := v_topic.problem;
        IF v_topic.is_here AND v_problem IS NULL THEN
            v_relation := omd.target_relation(v_topic.table_code);
            v_problem := coalesce(
                omd._missing_right(
                    v_relation,
                    CASE
                        WHEN v_topic.replaces THEN '{SELECT,DELETE,INSERT,UPDATE}'
                        ELSE '{SELECT,DELETE}'
                    END::text[]
                ),
                omd.find_references(
                    v_relation, quote_ident(v_topic.insert_column), v_topic.instance_array,
                    p_instance_array
                )
            );
        END IF;
        action := CASE
            WHEN v_problem IS NOT NULL THEN 'BLOCKED'
            WHEN v_topic.is_here THEN 'UNDO'
            ELSE 'PENDING'
        END;
        problem := v_problem;
        v_go := NULL;
        v_back := NULL;
        IF p_is_counted AND action = 'UNDO' THEN
            SELECT
                coalesce(jsonb_object_agg(i.id, c.row_count) FILTER (WHERE c.row_count > 0), '{}'),
                array_agg(i.id) FILTER (WHERE c.row_count IS NULL)
            INTO v_go, v_left
            FROM unnest(v_topic.instance_array) AS i (id)
            CROSS JOIN LATERAL (
                SELECT (p_row_counts #>> ARRAY[i.id::text, v_relation::text])::bigint AS row_count
            ) AS c;
            IF v_left <> '{}' THEN
                v_go := v_go || (
                    SELECT jsonb_object_agg(c.module_instance_id, c.rows_go)
                    FROM omd.recall_counts(
                        omd.quote_table(v_topic.table_code, 'POSTGRES'),
                        quote_ident(v_topic.insert_column), NULL, v_left
                    ) AS c
                );
            END IF;
            v_back := '{}';
            IF v_topic.replaces THEN
                SELECT jsonb_object_agg(b.module_instance_id, b.rows_back) INTO v_back
                FROM omd_lineage._rows_to_put_back(
                    v_topic.instance_array, p_instance_array
                ) AS b;
            END IF;
        END IF;
        FOREACH module_instance_id IN ARRAY v_topic.instance_array LOOP
            IF NOT v_topic.is_here AND v_problem IS NULL THEN
                action := CASE
                    WHEN module_instance_id = ANY(omd.undone_elsewhere()) THEN 'UNDO'
                    ELSE 'PENDING'
                END;
            END IF;
            rows_go := CASE
                WHEN v_go IS NOT NULL THEN coalesce((v_go ->> module_instance_id::text)::bigint, 0)
            END;
            rows_back := CASE
                WHEN v_topic.replaces THEN (v_back ->> module_instance_id::text)::bigint
                WHEN v_back IS NOT NULL THEN 0
            END;
            comes_again := CASE
                WHEN v_topic.processor <> 'RELOAD'
                    THEN CASE WHEN v_topic.replaces THEN 'from the offset' ELSE 'the block' END
                WHEN module_instance_id = v_topic.reload_id THEN 'a reload'
            END;
            RETURN NEXT;
        END LOOP;
    END LOOP;
END
$recall_effects$;

COMMENT ON FUNCTION omd_lineage.recall_effects IS
'For rooms: Returns what it would do to take back those of the runs p_instance_array that are '
'steps: a row per run, with action UNDO, PENDING, GIVE_UP or BLOCKED, the rows that go and that '
'come back, how it comes again and what is in the way. p_is_counted FALSE: no rows are counted; '
'p_row_counts: those that are counted already, {run: {oid of the table: rows}}. It reads with the '
'rights of the caller. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage.recall_effects TO omd_admin;
