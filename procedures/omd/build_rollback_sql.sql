-- Answers the statements that undo the instances a Module Instance was told to undo: a dry run of
-- its rollback. Executes nothing.

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
    FROM omd._plan_rollback(p_module_instance_id) AS p
    ORDER BY p.step;
END;

COMMENT ON FUNCTION omd.build_rollback_sql IS
'The statements (step, platform_code, statement) that undo what the Module Instance was told to '
'undo, or, for one that was not, what a begin of its Module would undo now. Companions come '
'first. No row when nothing is pending. Executes nothing; preview_rollback counts the rows. '
'Errors: OM004, OM005, OM009, OM201, OM202, OM205. Locks: none. DIRECT, "Rollback Procedures".';
REVOKE ALL ON FUNCTION omd.build_rollback_sql FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.build_rollback_sql TO omd_reader;
