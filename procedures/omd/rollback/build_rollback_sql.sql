-- For any target the statements are a dry run; where the target is not in this database, the caller
-- executes them.

CREATE OR REPLACE FUNCTION omd.build_rollback_sql(
    p_module_instance_id bigint
)
RETURNS TABLE (
    step integer,
    platform_code text,
    statement text
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        p.step,
        p.platform_code,
        p.statement
    FROM omd.rollback_steps(p_module_instance_id) AS p
    ORDER BY p.step;
END;

COMMENT ON FUNCTION omd.build_rollback_sql IS
'Returns the statements (step, platform_code, statement) that undo what the Module Instance has '
'to undo, or, if nothing was decided for it, what a begin of its Module would undo now. The '
'statements of companions come first. What a run did to lake tables the driver takes back, and no '
'statement does: a comment says so, with the command that performs it. There is no row when '
'nothing is pending. It executes nothing; preview_rollback counts the rows. Errors: OM004, OM005, '
'OM009, OM201, OM202, OM205. Locks: none. DIRECT, "Rollback Procedures".';
GRANT EXECUTE ON FUNCTION omd.build_rollback_sql TO omd_reader;
