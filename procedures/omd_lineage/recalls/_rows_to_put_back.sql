-- A key that a later step of another topic has replaced since keeps its row, and which keys these
-- are only the act knows; then the number is not known before.

CREATE OR REPLACE FUNCTION omd_lineage._rows_to_put_back(
    p_instance_array bigint[],
    p_undone bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    rows_back bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $rows_to_put_back$
DECLARE
    v_is_known CONSTANT boolean := NOT EXISTS (
        SELECT FROM omd_lineage.replaced_row AS r
        WHERE r.written_by = ANY(p_instance_array)
            AND (r.module_instance_id = ANY(p_undone)) IS NOT TRUE
    );
BEGIN
    RETURN QUERY
    WITH kept AS MATERIALIZED (
        SELECT
            r.module_instance_id,
            r.written_by,
            count(*) AS row_count
        FROM omd_lineage.replaced_row AS r
        WHERE r.module_instance_id = ANY(p_instance_array)
        GROUP BY r.module_instance_id, r.written_by
    )

    SELECT
        i.id,
        CASE WHEN v_is_known THEN coalesce(sum(k.row_count), 0)::bigint END
    FROM unnest(p_instance_array) AS i (id)
    LEFT JOIN kept AS k
        ON i.id = k.module_instance_id
            AND (
                k.written_by = ANY(
                    p_undone || omd.undone_instances(
                        (SELECT array_agg(w.written_by) FROM kept AS w)
                    )
                )
            ) IS NOT TRUE
    GROUP BY i.id;
END
$rows_to_put_back$;

COMMENT ON FUNCTION omd_lineage._rows_to_put_back IS
'Returns how many rows each of the steps p_instance_array has replaced of runs that stand and are '
'none of p_undone, so that they come back when the steps are undone; NULL where only the act '
'knows. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._rows_to_put_back TO omd_admin;
