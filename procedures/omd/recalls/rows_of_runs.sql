-- Rows of users are counted with the rights of the caller, who learns what he lacks.

CREATE OR REPLACE FUNCTION omd.rows_of_runs(
    p_instance_array bigint[],
    p_undone bigint[] DEFAULT NULL,
    p_is_counted boolean DEFAULT TRUE
)
RETURNS TABLE (
    module_instance_id bigint,
    table_code text,
    action text,
    rows_go bigint,
    rows_back bigint,
    problem text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $rows_of_runs$
DECLARE
    v_part record;
    v_count record;
    v_problem text;
    v_all bigint;
    v_rest bigint;
BEGIN
    FOR v_part IN SELECT p.* FROM omd._recall_parts(p_instance_array) AS p LOOP
        table_code := v_part.table_code;
        rows_go := NULL;
        rows_back := NULL;
        v_problem := 'NO_ROLLBACK: ' || v_part.problem;
        IF v_problem IS NULL AND v_part.way <> 'PENDING' THEN
            v_problem := omd._missing_right(
                v_part.relation,
                ARRAY['SELECT', 'DELETE', CASE v_part.way WHEN 'REPAIR' THEN 'UPDATE' END]
            );
            IF v_problem IS NULL AND v_part.stamp IS NOT NULL AND NOT v_part.keeps_rows THEN
                v_problem := omd.find_references(
                    v_part.relation, v_part.stamp, v_part.instance_array,
                    p_instance_array || p_undone
                );
            END IF;
        END IF;
        action := CASE
            WHEN v_problem IS NOT NULL THEN 'BLOCKED'
            WHEN v_part.way = 'PENDING' THEN 'PENDING'
            ELSE 'UNDO'
        END;
        problem := v_problem;
        IF NOT p_is_counted OR v_part.way = 'PENDING' OR v_part.stamp IS NULL
            OR v_part.keeps_rows OR v_problem LIKE 'NO_RIGHT:%'
        THEN
            FOREACH module_instance_id IN ARRAY v_part.instance_array LOOP
                IF v_part.way = 'PENDING' AND v_problem IS NULL THEN
                    action := CASE
                        WHEN module_instance_id = ANY(omd.undone_elsewhere()) THEN 'UNDO'
                        ELSE 'PENDING'
                    END;
                END IF;
                RETURN NEXT;
            END LOOP;
            CONTINUE;
        END IF;
        v_rest := NULL;
        IF v_part.way = 'REPAIR' THEN
            EXECUTE v_part.count_statement INTO v_all;
        END IF;
        FOR v_count IN
            SELECT
                c.*,
                (sum(c.rows_go + c.rows_back) OVER ())::bigint AS counted
            FROM omd.recall_counts(
                v_part.table_name, v_part.stamp, v_part.update_stamp, v_part.instance_array
            ) AS c
            ORDER BY c.module_instance_id DESC
        LOOP
            module_instance_id := v_count.module_instance_id;
            rows_go := v_count.rows_go;
            rows_back := CASE
                WHEN v_part.way = 'STATEMENTS' THEN NULL
                WHEN v_part.way = 'REPAIR' AND v_rest IS NULL
                    THEN v_count.rows_back + v_all - v_count.counted
                ELSE v_count.rows_back
            END;
            v_rest := 0::bigint;
            RETURN NEXT;
        END LOOP;
    END LOOP;
END
$rows_of_runs$;

COMMENT ON FUNCTION omd.rows_of_runs IS
'For rooms: Returns what it would do to take back the runs p_instance_array by the rollback of '
'their own Modules, together with the runs p_undone of others: a row per run that stands, with '
'action UNDO, PENDING (the target is not in this database, nor undone by this transaction) or '
'BLOCKED, the rows that go and come back (NULL: only a template knows) and what is in the way. '
'p_is_counted FALSE: no rows are counted. It reads with the rights of the caller. Locks: none. '
'May be NULL: rows_go, rows_back, problem.';
GRANT EXECUTE ON FUNCTION omd.rows_of_runs TO omd_admin;
