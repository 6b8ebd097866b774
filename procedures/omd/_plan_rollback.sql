-- The preview and the execution take their statements from here, so that both have the same
-- statements in the same order.

CREATE OR REPLACE FUNCTION omd._plan_rollback(
    p_module_instance_id bigint
)
RETURNS TABLE (
    step integer,
    platform_code text,
    statement text,
    count_statement text
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        (row_number() OVER (ORDER BY p.place, s.step))::integer,
        s.platform_code,
        s.statement,
        s.count_statement
    FROM omd._rollback_parts(p_module_instance_id) AS p
    CROSS JOIN LATERAL omd._rollback_statements(p.module_id, p.instance_array) AS s
    ORDER BY 1;
END;

COMMENT ON FUNCTION omd._plan_rollback IS
'Returns the statements (step, platform_code, statement, count_statement) that undo what the '
'Module Instance has to undo, or what a begin of its Module would undo now. There is no row when '
'nothing is pending. It executes nothing. Errors: OM004, OM005, OM009, OM201, OM202, OM205. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd._plan_rollback FROM PUBLIC;
