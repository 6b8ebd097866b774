-- A plan that counted other rows than went was no plan of this.

CREATE OR REPLACE FUNCTION omd_provenance._end_act(
    p_recall_id bigint,
    p_module_instance_id bigint,
    p_items jsonb,
    p_done jsonb,
    OUT p_rows_gone bigint,
    OUT p_rows_returned bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_act$
DECLARE
    v_recall omd_provenance.recall := omd_provenance._require_planned(p_recall_id, TRUE);
    v_other jsonb;
    v_count bigint;
BEGIN
    UPDATE omd_provenance.recall_item AS i SET
        rows_gone = d.rows_gone,
        rows_returned = d.rows_returned
    FROM jsonb_to_recordset(p_done) AS d (
        module_instance_id bigint, table_code text, rows_gone bigint, rows_returned bigint
    )
    WHERE i.recall_id = p_recall_id
        AND i.module_instance_id = d.module_instance_id
        AND i.table_code IS NOT DISTINCT FROM d.table_code;
    IF NOT omd.undone_elsewhere() <@ omd.recalled_runs(p_module_instance_id) THEN
        -- Their rows would go with this transaction, and nobody would mark them.
        PERFORM omd_provenance._raise_changed(
            p_recall_id, '[]', to_jsonb(omd.undone_elsewhere())
        );
    END IF;
    UPDATE omd_provenance.recall_item AS i SET action = 'UNDO'
    WHERE i.recall_id = p_recall_id
        AND i.action = 'PENDING'
        AND i.module_instance_id = ANY(omd.undone_elsewhere());
    -- Where a room had nothing to do it says nothing.
    UPDATE omd_provenance.recall_item AS i SET
        rows_gone = coalesce(i.rows_gone, 0),
        rows_returned = coalesce(i.rows_returned, CASE WHEN i.rows_back IS NOT NULL THEN 0 END)
    WHERE i.recall_id = p_recall_id AND i.rows_go IS NOT NULL;
    SELECT jsonb_agg(
        jsonb_build_object(
            'module_instance_id', i.module_instance_id, 'table_code', i.table_code,
            'rows_go', i.rows_go, 'rows_gone', i.rows_gone,
            'rows_back', i.rows_back, 'rows_returned', i.rows_returned
        )
        ORDER BY i.position
    )
    INTO v_other
    FROM omd_provenance.recall_item AS i
    WHERE i.recall_id = p_recall_id
        AND (i.rows_go <> i.rows_gone OR i.rows_back <> i.rows_returned);
    IF v_other IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM190',
            jsonb_build_object(
                'recall_id', p_recall_id,
                'problem', format(
                    'of Module Instance %s in %s %s rows went and %s came back, instead of %s and '
                    '%s',
                    v_other -> 0 ->> 'module_instance_id', v_other -> 0 ->> 'table_code',
                    v_other -> 0 ->> 'rows_gone', v_other -> 0 ->> 'rows_returned',
                    v_other -> 0 ->> 'rows_go', v_other -> 0 ->> 'rows_back'
                ),
                'way_out', 'Find what changed the rows (a writer, a rule or a trigger), and plan again.',
                'come', '[]'::jsonb, 'gone', '[]'::jsonb,
                'counts', v_other
            )
        );
    END IF;
    PERFORM omd_delivery.withdraw(i.delivery_id, p_recall_id, v_recall.reason)
    FROM omd_provenance.recall_item AS i
    WHERE i.recall_id = p_recall_id AND i.action = 'WITHDRAW';
    PERFORM omd_provenance._note_returns(p_recall_id, p_items);
    SELECT
        coalesce(sum(i.rows_gone), 0)::bigint, coalesce(sum(i.rows_returned), 0)::bigint,
        count(*) FILTER (WHERE i.action NOT IN ('OUTSIDE', 'UNKNOWN'))
    INTO p_rows_gone, p_rows_returned, v_count
    FROM omd_provenance.recall_item AS i
    WHERE i.recall_id = p_recall_id;
    UPDATE omd_provenance.recall AS r SET
        recall_status = 'EXECUTED',
        executed_by = omd.editor(),
        executed_datetime = clock_timestamp(),
        module_instance_id = p_module_instance_id
    WHERE r.recall_id = p_recall_id;
    PERFORM omd.write_event(
        0, 0, 4, 'RECALLED',
        format(
            '%s: recall %s was executed: %s',
            omd.editor(), p_recall_id, v_recall.reason
        )
    );
    PERFORM omd.end_recall(
        p_module_instance_id, p_rows_gone, p_rows_returned,
        format(
            'recall %s took back %s runs and deliveries: %s', p_recall_id, v_count, v_recall.reason
        )
    );
END
$end_act$;

COMMENT ON FUNCTION omd_provenance._end_act IS
'Ends the act of the recall p_recall_id with its run p_module_instance_id: compares p_done, the '
'rows that went and came back, with the plan, withdraws deliveries that are in the way, notes what '
'must come again of p_items, and returns how many rows went and came back. Errors: OM190: other '
'rows went than were planned. Locks: the recall.';
GRANT EXECUTE ON FUNCTION omd_provenance._end_act TO omd_admin;
