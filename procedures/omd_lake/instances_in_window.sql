-- A window is about writes. What maintenance or a rollback rewrote keeps the stamp of the run that
-- wrote it first, and was in an earlier window.

CREATE OR REPLACE FUNCTION omd_lake.instances_in_window(
    p_table_code text,
    p_start_value timestamptz,
    p_start_id bigint,
    p_end_value timestamptz,
    p_end_id bigint
)
RETURNS TABLE (
    module_instance_id bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $instances_in_window$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
    v_missing text := CASE
        WHEN p_end_value IS NULL THEN 'p_end_value'
        WHEN p_end_id IS NULL THEN 'p_end_id'
    END;
    v_instances bigint[];
BEGIN
    IF v_missing IS NOT NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', v_missing));
    END IF;
    SELECT array_agg(DISTINCT c.module_instance_id) INTO v_instances
    FROM omd_lake.table_commit AS c
    WHERE c.table_code = v_table_code
        AND (c.commit_datetime, c.sequence_number) > (
            coalesce(p_start_value, '-infinity'), coalesce(p_start_id, -9223372036854775808)
        )
        AND (c.commit_datetime, c.sequence_number) <= (p_end_value, p_end_id)
        AND c.operation IN ('APPEND', 'OVERWRITE', 'HISTORY')
        AND c.module_instance_id IS NOT NULL;
    RETURN QUERY
    SELECT i.id
    FROM unnest(v_instances) AS i (id)
    WHERE i.id <> ALL(omd.undone_instances(v_instances))
    ORDER BY i.id;
END
$instances_in_window$;

COMMENT ON FUNCTION omd_lake.instances_in_window IS
'Returns the runs whose writes into the lake table p_table_code lie in the load window '
'(p_start_value and p_start_id, p_end_value and p_end_id] and are not undone. p_start_value, '
'p_start_id: where it starts; NULL: at the very beginning. The window reads the live rows that '
'these runs stamped, as of its end. Errors: OM005, OM009, OM013. Locks: none.';
REVOKE ALL ON FUNCTION omd_lake.instances_in_window FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lake.instances_in_window TO omd_reader;
