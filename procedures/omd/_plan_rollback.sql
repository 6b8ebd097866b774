-- The whole rollback that a Module Instance was told to do, or that a begin of its Module would do
-- now: the companions first, then the Module itself, in one order. Executes nothing.

CREATE OR REPLACE FUNCTION omd._plan_rollback(
    p_module_instance_id bigint
)
RETURNS TABLE (
    step integer,
    platform_code text,
    statement text,
    count_statement text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plan_rollback$
DECLARE
    v_instance omd.module_instance;
    v_array bigint[];
    v_companions bigint[];
BEGIN
    SELECT mi.* INTO v_instance
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id AND mi.module_id IS NOT NULL;
    IF NOT FOUND THEN
        PERFORM omd._raise_module_instance_state(p_module_instance_id, 'be rolled back');
    END IF;

    -- What the evaluation has answered, else what a begin would roll back now.
    IF v_instance.execution_status_code = 'E' AND v_instance.processing_indicator = 'R' THEN
        v_array := v_instance.rollback_instance_array;
        v_companions := v_instance.companion_instance_array;
    ELSE
        v_array := omd.pending_rollback(v_instance.module_id);
        v_companions := omd._companion_instances(v_instance.module_id, v_array);
    END IF;
    IF v_array = '{}' THEN
        RETURN;
    END IF;

    RETURN QUERY
    WITH part AS (
        SELECT
            mi.module_id,
            array_agg(mi.module_instance_id ORDER BY mi.module_instance_id) AS instance_array
        FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = ANY(v_array || v_companions)
        GROUP BY mi.module_id
    )

    SELECT
        row_number() OVER (ORDER BY p.module_id = v_instance.module_id, p.module_id, s.step)
            ::integer,
        s.platform_code,
        s.statement,
        s.count_statement
    FROM part AS p
    CROSS JOIN LATERAL omd._rollback_statements(p.module_id, p.instance_array) AS s
    ORDER BY 1;
END
$plan_rollback$;

COMMENT ON FUNCTION omd._plan_rollback IS
'The statements (step, platform_code, statement, count_statement) that undo what the Module '
'Instance was told to undo, or what a begin of its Module would undo now, companions first. No '
'row when nothing is pending. Executes nothing. Errors: OM004, OM005, OM009, OM201, OM202, '
'OM205. Locks: none.';
REVOKE ALL ON FUNCTION omd._plan_rollback FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._plan_rollback TO omd_reader;
