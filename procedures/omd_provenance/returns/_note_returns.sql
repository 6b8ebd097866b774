-- Deliveries come in the order of their snapshots, then what the Modules make of them; the target
-- itself, when a correction is awaited, before all others. A Module waits for all that its runs had
-- read, directly or not, as far as it went too.

CREATE OR REPLACE FUNCTION omd_provenance._note_returns(
    p_recall_id bigint,
    p_items jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_returns$
BEGIN
    PERFORM
        omd.await_return(
            p_recall_id, n.position::integer, n.module_code, n.is_by_hand, n.runs, n.delivery_id,
            n.snapshot_datetime, n.problem, omd_provenance._upstream(p_items, n.runs)
        )
    FROM (
        SELECT
            row_number() OVER (
                ORDER BY
                    e.delivery_id IS NULL,
                    NOT e.is_target,
                    e.snapshot_datetime,
                    e.delivery_id,
                    e.last_position DESC
            ) AS position,
            e.*
        FROM (
            SELECT
                'delivery.' || l.agreement_code AS module_code,
                bool_or(i.relation = 'TARGET') AS is_target,
                bool_or(i.comes_again = 'by hand') AS is_by_hand,
                array_remove(array_agg(i.module_instance_id), NULL) AS runs,
                i.delivery_id,
                l.snapshot_datetime,
                max(i.problem) AS problem,
                max(i.position) AS last_position
            FROM jsonb_populate_recordset(NULL::omd_provenance.recall_item, p_items) AS i
            INNER JOIN omd_delivery.deliveries_by_id(ARRAY[i.delivery_id]) AS l
                ON i.delivery_id = l.delivery_id
            WHERE i.action IN ('REVERT', 'REDELIVER', 'BY_HAND', 'WITHDRAW')
                AND i.comes_again IS NOT NULL
            GROUP BY l.agreement_code, i.delivery_id, l.snapshot_datetime
            UNION ALL
            SELECT
                i.module_code,
                bool_or(i.relation = 'TARGET'),
                bool_or(i.comes_again = 'by hand'),
                array_agg(DISTINCT i.module_instance_id),
                NULL,
                NULL,
                NULL,
                max(i.position)
            FROM jsonb_populate_recordset(NULL::omd_provenance.recall_item, p_items) AS i
            WHERE i.action IN ('UNDO', 'PENDING', 'GIVE_UP')
                AND i.module_kind_code IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
            GROUP BY i.module_code
        ) AS e
    ) AS n
    ORDER BY n.position;
END
$note_returns$;

COMMENT ON FUNCTION omd_provenance._note_returns IS
'Notes in omd.module_return what the recall p_recall_id took back, by its items p_items, and must '
'come again from outside. Locks: the rows of the Modules.';
