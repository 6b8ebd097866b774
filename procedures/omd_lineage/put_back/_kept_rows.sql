-- An undo runs with the rights of its role, which may not read the table. What a run has written
-- that is itself undone does not come back.

CREATE OR REPLACE FUNCTION omd_lineage._kept_rows(
    p_module_instance_id bigint,
    p_written_by bigint
)
RETURNS TABLE (
    module_instance_id bigint,
    written_by bigint,
    content text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $kept_rows$
BEGIN
    IF p_module_instance_id IS NULL THEN
        RETURN QUERY
        SELECT r.module_instance_id, r.written_by, r.content
        FROM omd_lineage.replaced_row AS r
        WHERE r.written_by = p_written_by;
    ELSE
        RETURN QUERY
        WITH undone AS MATERIALIZED (
            SELECT omd.undone_instances(array_agg(w.written_by)) AS instance_array
            FROM (
                SELECT DISTINCT r.written_by
                FROM omd_lineage.replaced_row AS r
                WHERE r.module_instance_id = p_module_instance_id
            ) AS w
        )

        SELECT r.module_instance_id, r.written_by, r.content
        FROM omd_lineage.replaced_row AS r
        WHERE r.module_instance_id = p_module_instance_id
            AND (r.written_by = ANY((SELECT u.instance_array FROM undone AS u)::bigint[]))
            IS NOT TRUE;
    END IF;
END
$kept_rows$;

COMMENT ON FUNCTION omd_lineage._kept_rows IS
'Returns the rows that the step p_module_instance_id has replaced, without those of runs that are '
'undone; if it is NULL, the rows of the run p_written_by that any step has replaced. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._kept_rows TO omd_runner, omd_admin;
