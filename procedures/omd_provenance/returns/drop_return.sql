-- Whoever waits behind the entry goes on, so the reason is kept.

CREATE OR REPLACE PROCEDURE omd_provenance.drop_return(
    p_recall_id bigint,
    p_position integer,
    p_reason text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $drop_return$
DECLARE
    v_entry record;
    v_status text;
BEGIN
    p_recall_id := omd.require_argument('p_recall_id', p_recall_id);
    p_position := omd.require_argument('p_position', p_position);
    p_reason := omd.require_argument('p_reason', p_reason);
    SELECT r.module_kind_code, r.drop_reason, r.ended_datetime INTO v_entry
    FROM omd.awaited_return AS r
    WHERE r.recall_id = p_recall_id AND r.position = p_position;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM090',
            jsonb_build_object(
                'object', 'entry of a recall', 'key', format('%s, %s', p_recall_id, p_position)
            )
        );
    ELSIF v_entry.module_kind_code = 'DELIVERY' THEN
        v_status := omd_delivery.drop_return(p_recall_id, p_position, p_reason);
    ELSE
        v_status := omd.drop_return(p_recall_id, p_position, p_reason);
    END IF;
    IF v_status NOT IN ('BY_HAND', 'WAITING', 'DUE', 'OPEN') THEN
        PERFORM omd.raise_error(
            'OM193',
            jsonb_build_object(
                'object', 'entry of a recall',
                'key', format('%s, %s', p_recall_id, p_position),
                'action', 'be dropped',
                'status', v_status
            )
        );
    END IF;
    PERFORM omd.write_event(
        0, 0, 4, 'DROPPED',
        format(
            '%s: entry %s of recall %s will not come: %s',
            omd.editor(), p_position, p_recall_id, p_reason
        )
    );
END
$drop_return$;

COMMENT ON PROCEDURE omd_provenance.drop_return IS
'Says that the entry p_position of what the recall p_recall_id wants to come again will not come, '
'because of p_reason: what waits for it goes on. Errors: OM005: an argument is NULL; OM014: the '
'isolation level is not read committed; OM090: there is no such entry; OM193: it was filled or '
'dropped, or its delivery has not ended. Locks: of a delivery the interface, the location and the '
'arrival; the entry. Call again when the answer was lost; OM193 with DROPPED says that it is done.';
GRANT EXECUTE ON PROCEDURE omd_provenance.drop_return TO omd_admin;
