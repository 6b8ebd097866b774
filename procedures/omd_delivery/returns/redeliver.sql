-- The database can't look at files, so a worker says what it sees, and the database compares.

CREATE OR REPLACE PROCEDURE omd_delivery.redeliver(
    p_recall_id bigint,
    INOUT p_delivery_id bigint DEFAULT NULL,
    INOUT p_files jsonb DEFAULT NULL,
    INOUT p_outcome text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $redeliver$
DECLARE
    v_entry record;
    v_agreement omd_delivery.agreement;
    v_is_asked CONSTANT boolean := p_delivery_id IS NOT NULL;
    v_seen CONSTANT jsonb := p_files;
    v_problem text;
BEGIN
    PERFORM omd.require_read_committed();
    p_files := NULL;
    -- Twice: the second look is under the lock of the interface.
    FOR v_look IN 1..2 LOOP
        SELECT r.* INTO v_entry
        FROM omd_delivery.delivery_return AS r
        WHERE r.recall_id = p_recall_id
            AND r.ended_datetime IS NULL
            AND (NOT v_is_asked OR (r.is_redelivered AND r.delivery_id = p_delivery_id))
        ORDER BY
            -- Of several interfaces each has a first one.
            r.is_redelivered DESC, r.return_status <> 'DUE', r.snapshot_datetime, r.position
        LIMIT 1;
        IF NOT FOUND THEN
            p_delivery_id := NULL;
            p_outcome := 'NOTHING';
            RETURN;
        END IF;
        IF v_look = 1 THEN
            v_agreement := omd_delivery._hold_agreement(v_entry.agreement_code);
        END IF;
    END LOOP;
    IF v_entry.agreement_id <> v_agreement.agreement_id THEN
        v_agreement := omd_delivery._hold_agreement(v_entry.agreement_code);
    END IF;
    IF v_entry.return_status = 'DUE' THEN
        PERFORM omd_delivery._require_effective(v_agreement, v_entry.snapshot_datetime);
        p_delivery_id := omd_delivery._redeliver_entry(
            v_agreement, p_recall_id, v_entry.position, v_entry.former_delivery_id
        );
        IF p_delivery_id IS NULL THEN
            p_outcome := 'BY_HAND';
            RETURN;
        END IF;
    ELSIF v_entry.is_redelivered THEN
        p_delivery_id := v_entry.delivery_id;
    ELSE
        p_delivery_id := NULL;
        p_outcome := v_entry.return_status;
        RETURN;
    END IF;
    p_files := omd_delivery._recorded_files(v_entry.former_delivery_id);
    p_outcome := 'RUN';
    v_problem := CASE
        WHEN v_seen IS NOT NULL
            THEN omd_delivery._files_problem(v_entry.former_delivery_id, NULL, v_seen)
    END;
    IF v_problem IS NOT NULL THEN
        CALL omd_delivery.cancel_delivery(p_delivery_id, v_problem);
        PERFORM omd.settle_return(
            p_recall_id, v_entry.position, NULL, FALSE, p_is_by_hand => TRUE,
            p_problem => v_problem
        );
        p_delivery_id := NULL;
        p_outcome := 'BY_HAND';
    END IF;
END
$redeliver$;

COMMENT ON PROCEDURE omd_delivery.redeliver IS
'For rooms: Does what omd_provenance.redeliver says. p_recall_id, p_delivery_id, p_files and '
'p_outcome are those of it. Errors: OM014: the isolation level is not read committed; OM036: '
'p_files is no list of files; OM232: the agreement is inactive, or not effective today. Locks: '
'the interface, the entry, the delivery.';
