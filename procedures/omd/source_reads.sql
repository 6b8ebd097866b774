-- A run that stands has made rows of what its window held.

CREATE OR REPLACE FUNCTION omd.source_reads(
    p_source_code text,
    p_id bigint,
    p_before_id bigint
)
RETURNS TABLE (module_code text, module_instance_id bigint, start_id bigint, end_id bigint)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        m.module_code,
        mi.module_instance_id,
        c.start_id,
        c.end_id
    FROM omd.source_control AS c
    INNER JOIN omd.module_instance AS mi ON c.module_instance_id = mi.module_instance_id
    INNER JOIN omd.module AS m ON c.module_id = m.module_id
    WHERE
        c.source_code = p_source_code
        AND c.end_id >= p_id
        AND c.end_id < p_before_id
        AND coalesce(c.start_id, 0) < p_id
        AND mi.execution_status_code IN ('S', 'E')
        AND mi.rolled_back_by_module_instance_id IS NULL;
END;

COMMENT ON FUNCTION omd.source_reads IS
'For rooms: Returns the runs that stand, or execute, whose window (start_id, end_id] of the source '
'p_source_code holds p_id and ends before p_before_id. Locks: none.';
REVOKE ALL ON FUNCTION omd.source_reads FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.source_reads TO omd_reader;
