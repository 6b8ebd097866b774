-- Each count runs in a read-only subtransaction that is then undone, so that it changes nothing in
-- the database, not even through a function that it calls.

CREATE OR REPLACE FUNCTION omd.preview_rollback(
    p_module_instance_id bigint
)
RETURNS TABLE (
    step integer,
    platform_code text,
    statement text,
    row_count bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $preview_rollback$
DECLARE
    v_planned record;
    v_problem text;
BEGIN
    FOR v_planned IN
        SELECT
            (row_number() OVER (ORDER BY p.place, p.step))::integer AS step,
            p.platform_code,
            coalesce(i.statement, p.statement) AS statement,
            CASE WHEN i.statement IS NULL THEN p.count_statement ELSE i.count_statement END
                AS count_statement
        FROM omd._rollback_plan(p_module_instance_id) AS p
        LEFT JOIN LATERAL omd._instead_of_truncate(p.module_id, p.instance_array) AS i
            ON p.statement ~* '^\s*TRUNCATE\M' AND omd._has_strangers(p.module_id)
        ORDER BY 1
    LOOP
        step := v_planned.step;
        platform_code := v_planned.platform_code;
        statement := v_planned.statement;
        row_count := NULL;
        IF v_planned.platform_code = 'POSTGRES' AND v_planned.count_statement IS NOT NULL THEN
            v_problem := NULL;
            BEGIN
                PERFORM set_config('transaction_read_only', 'on', TRUE);
                EXECUTE v_planned.count_statement INTO row_count;
                -- Variables keep their values; everything else is undone.
                RAISE EXCEPTION USING ERRCODE = 'triggered_action_exception';
            EXCEPTION
                WHEN triggered_action_exception THEN
                    NULL;
                WHEN read_only_sql_transaction OR feature_not_supported THEN
                    v_problem := sqlerrm;
            END;
            IF v_problem IS NOT NULL THEN
                PERFORM omd.raise_error(
                    'OM209',
                    jsonb_build_object(
                        'step', step,
                        'statement', v_planned.count_statement,
                        'module_code', (
                            SELECT m.module_code
                            FROM omd.module_instance AS mi
                            INNER JOIN omd.module AS m USING (module_id)
                            WHERE mi.module_instance_id = p_module_instance_id
                        ),
                        'problem', 'its count is no SELECT that only reads: ' || v_problem
                    )
                );
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$preview_rollback$;

COMMENT ON FUNCTION omd.preview_rollback IS
'Returns what build_rollback_sql returns, with the number of rows that each statement would touch '
'now; it is NULL on Spark, and for a template without a count. It counts with the rights of the '
'caller, who needs SELECT on the targets, and calls what their owners have put there: functions '
'of views, policies and counts. What these do in the database is undone. Errors: OM004, OM005, '
'OM009, OM201, OM202, OM205, OM209: a count would change something. Locks: none. May be NULL: '
'row_count.';
GRANT EXECUTE ON FUNCTION omd.preview_rollback TO omd_reader;
