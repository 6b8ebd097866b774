-- Positions, counts and reasons may differ; runs and what happens to them may not. Whether a lake
-- table is undone at once or later is no other plan: the caller has consented to the latter. Of a
-- Module whose inputs are unknown each run is like the one before.

CREATE OR REPLACE FUNCTION omd_provenance._plan_difference(
    p_recall_id bigint,
    p_items jsonb,
    OUT p_come jsonb,
    OUT p_gone jsonb
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plan_difference$
BEGIN
    WITH entry AS (
        SELECT
            e.is_new,
            e.position,
            CASE
                WHEN e.module_instance_id IS NULL
                    THEN to_jsonb('delivery ' || e.delivery_id)
                WHEN e.action = 'UNKNOWN' THEN to_jsonb(e.module_code)
                ELSE to_jsonb(e.module_instance_id)
            END AS who,
            CASE e.action WHEN 'PENDING' THEN 'UNDO' ELSE e.action END AS action,
            coalesce(e.table_code, '') AS table_code
        FROM (
            SELECT
                i.action, i.module_instance_id, i.delivery_id, i.module_code, i.table_code,
                i.position, TRUE AS is_new
            FROM jsonb_populate_recordset(NULL::omd_provenance.recall_item, p_items) AS i
            UNION ALL
            SELECT
                i.action, i.module_instance_id, i.delivery_id, i.module_code, i.table_code,
                i.position, FALSE
            FROM omd_provenance.recall_item AS i
            WHERE i.recall_id = p_recall_id
        ) AS e
    ),

    difference AS (
        SELECT e.who, bool_or(e.is_new) AS is_new, min(e.position) AS position
        FROM entry AS e
        GROUP BY e.who, e.action, e.table_code
        HAVING count(DISTINCT e.is_new) = 1
    )

    SELECT
        coalesce(
            jsonb_agg(DISTINCT d.who) FILTER (WHERE d.is_new), '[]'
        ),
        coalesce(
            jsonb_agg(DISTINCT d.who) FILTER (WHERE NOT d.is_new), '[]'
        )
    INTO p_come, p_gone
    FROM difference AS d;
END
$plan_difference$;

COMMENT ON FUNCTION omd_provenance._plan_difference IS
'Compares p_items, as _plan has them, with the plan of the recall p_recall_id. Returns p_come and '
'p_gone, JSON arrays of runs that are only in the one or the other with what happens to them: '
'their ids; of a delivery without runs "delivery 7"; of a Module whose inputs are unknown its '
'code. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._plan_difference TO omd_admin;
