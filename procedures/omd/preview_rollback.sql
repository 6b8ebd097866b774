-- A dry run with numbers: the statements of a rollback, and how many rows each would touch, counted
-- with the rights of the caller. It reads the targets and changes nothing.

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
AS $preview_rollback$
DECLARE
    v_planned record;
BEGIN
    FOR v_planned IN
        SELECT p.* FROM omd._plan_rollback(p_module_instance_id) AS p ORDER BY p.step
    LOOP
        step := v_planned.step;
        platform_code := v_planned.platform_code;
        statement := v_planned.statement;
        row_count := NULL;
        IF v_planned.platform_code = 'POSTGRES' AND v_planned.count_statement IS NOT NULL THEN
            EXECUTE v_planned.count_statement INTO row_count;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$preview_rollback$;

COMMENT ON FUNCTION omd.preview_rollback IS
'What build_rollback_sql answers, with the number of rows that each statement would touch now '
'(NULL: on Spark, or its template says not how to count). Counted with the rights of the caller, '
'who needs SELECT on the targets. Changes nothing. Errors: OM004, OM005, OM009, OM201, OM202, '
'OM205. Locks: none.';
REVOKE ALL ON FUNCTION omd.preview_rollback FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.preview_rollback TO omd_reader;
