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
        w.module_code,
        w.module_instance_id,
        w.start_id,
        w.end_id
    FROM omd.source_window AS w
    WHERE
        w.source_code = p_source_code
        AND w.end_id >= p_id
        AND w.end_id < p_before_id
        AND coalesce(w.start_id, 0) < p_id;
END;

COMMENT ON FUNCTION omd.source_reads IS
'For rooms: Returns the runs that stand, or execute, whose window (start_id, end_id] of the source '
'p_source_code holds p_id and ends before p_before_id. Locks: none.';
REVOKE ALL ON FUNCTION omd.source_reads FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.source_reads TO omd_reader;
