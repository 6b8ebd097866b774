-- The act compares them with the rows that went (_end_act), so what was found by them is sure.
-- Topics alone: their rows are counted and go by one stamp.

CREATE OR REPLACE FUNCTION omd_provenance._planned_rows(
    p_recall_id bigint
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $planned_rows$
BEGIN
    RETURN (
        SELECT
            jsonb_object_agg(
                i.module_instance_id,
                jsonb_build_object(omd.target_relation(i.table_code), i.rows_go)
            )
        FROM omd_provenance.recall_item AS i
        WHERE i.recall_id = p_recall_id
            AND i.module_kind_code = 'TOPIC'
            AND i.action = 'UNDO'
            AND i.rows_go IS NOT NULL
            AND omd.target_relation(i.table_code) IS NOT NULL
    );
END
$planned_rows$;

COMMENT ON FUNCTION omd_provenance._planned_rows IS
'Returns how many rows each run of the plan of the recall p_recall_id has, as '
'omd_provenance._row_positions takes it: {run: {oid of the table: rows}}. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._planned_rows TO omd_admin;
