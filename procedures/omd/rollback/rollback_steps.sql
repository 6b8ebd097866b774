-- Who executes a rollback asks here, and need not read a statement to know what it is about. The
-- statements of build_rollback_sql come from here too, so both are the same, in the same order.

CREATE OR REPLACE FUNCTION omd.rollback_steps(
    p_module_instance_id bigint
)
RETURNS TABLE (
    step integer,
    platform_code text,
    statement_kind text,
    table_code text,
    insert_instance_column text,
    instance_array bigint[],
    statement text
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        (row_number() OVER (ORDER BY p.place, p.step))::integer,
        p.platform_code,
        p.statement_kind,
        p.table_code,
        p.insert_instance_column,
        p.instance_array,
        p.statement
    FROM omd._rollback_plan(p_module_instance_id) AS p
    ORDER BY 1;
END;

COMMENT ON FUNCTION omd.rollback_steps IS
'For the driver: '
'Returns what has to happen so that the Module Instance has undone what it has to undo, or, if '
'nothing was decided for it, what a begin of its Module would undo now: for each step its '
'platform, what kind of statement it is (statement_kind of omd.rollback_template), the target and '
'its column of instance ids, the instances, and the statement. There is no row when nothing is '
'pending. It executes nothing. Errors: OM004, OM005, OM009, OM201, OM202, OM205. Locks: none. '
'DIRECT, "Rollback Procedures".';
GRANT EXECUTE ON FUNCTION omd.rollback_steps TO omd_reader;
