-- A plan replaces the former one as a whole.

CREATE OR REPLACE FUNCTION omd_provenance._save_plan(
    p_recall_id bigint,
    p_items jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_plan$
BEGIN
    DELETE FROM omd_provenance.recall_item AS i
    USING omd_provenance.recall AS r
    WHERE i.recall_id = p_recall_id AND r.recall_id = p_recall_id AND r.recall_status = 'PLANNED';
    INSERT INTO omd_provenance.recall_item
    SELECT i.*
    FROM jsonb_array_elements(p_items) AS e
    CROSS JOIN LATERAL jsonb_populate_record(
        NULL::omd_provenance.recall_item, e || jsonb_build_object('recall_id', p_recall_id)
    ) AS i;
END
$save_plan$;

COMMENT ON FUNCTION omd_provenance._save_plan IS
'Makes p_items, as _plan has them, the plan of the recall p_recall_id, which is not executed yet. '
'Locks: its items.';
GRANT EXECUTE ON FUNCTION omd_provenance._save_plan TO omd_admin;
