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
        omd_decision._block_source(d.definition) AS source_code,
        i.start_value,
        i.start_id,
        i.end_id
    FROM omd_decision.run AS r
    INNER JOIN omd_decision.stage_version AS d
        ON r.stage_id = d.stage_id AND r.stage_version = d.version
    CROSS JOIN LATERAL omd.instance_state(r.module_instance_id) AS i
    WHERE
        r.module_instance_id = p_module_instance_id
        AND d.definition #>> '{window,by}' = 'CHANGES'
        AND i.end_id IS NOT NULL;
END;

COMMENT ON FUNCTION omd_decision._run_block IS
'One row: the block of changes that the run p_module_instance_id of a stage reads, behind '
'start_value and start_id up to end_id of source_code; none where it reads no changes. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._run_block TO omd_runner;
