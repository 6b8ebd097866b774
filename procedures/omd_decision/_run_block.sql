-- A run keeps to the block that its begin has recorded.

CREATE OR REPLACE FUNCTION omd_decision._run_block(
    p_module_instance_id bigint
)
RETURNS TABLE (
    source_code text,
    start_value timestamptz,
    start_id bigint,
    end_id bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        w.source_code,
        w.start_value,
        w.start_id,
        w.end_id
    FROM omd.source_control AS w
    INNER JOIN omd_decision.run AS r ON w.module_instance_id = r.module_instance_id
    WHERE w.module_instance_id = p_module_instance_id AND w.source_code IS NOT NULL;
END;

COMMENT ON FUNCTION omd_decision._run_block IS
'One row: the block of changes that the run p_module_instance_id of a stage reads, behind '
'start_value and start_id up to end_id of source_code; none where it reads no changes. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd_decision._run_block FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_decision._run_block TO omd_runner;
