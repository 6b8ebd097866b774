-- A folder whose delivery can't be created must not keep the next ones away, so it is refused and
-- the next goes on, up to a number in one call, which holds the lock of the interface meanwhile.
-- What is no error of ours (a lock that is not granted, a cancelled call) says nothing about the
-- folder.

CREATE OR REPLACE PROCEDURE omd_delivery.take_arrival(
    p_agreement_code text,
    INOUT p_delivery_id bigint DEFAULT NULL,
    INOUT p_folder text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_arrival$
DECLARE
    v_most CONSTANT integer := 100;
    v_agreement omd_delivery.agreement;
    v_return record;
    v_arrival omd_delivery.arrival;
    v_entities jsonb;
    v_status text;
    v_sqlstate text;
    v_message text;
BEGIN
    p_delivery_id := NULL;
    p_folder := NULL;
    v_agreement := omd_delivery._hold_agreement(p_agreement_code);
    IF v_agreement.layer_code <> 'LVL' THEN
        PERFORM omd_delivery._raise_argument(
            'p_agreement_code', p_agreement_code,
            'an agreement of the layer ' || v_agreement.layer_code || ' belongs to the facts'
        );
    END IF;
    SELECT r.* INTO v_return
    FROM omd_delivery.delivery_return AS r
    WHERE r.agreement_id = v_agreement.agreement_id
        AND r.ended_datetime IS NULL
        AND (r.is_redelivered OR r.return_status = 'DUE')
    ORDER BY r.is_redelivered DESC, r.snapshot_datetime, r.recall_id, r.position
    LIMIT 1;
    IF v_return.is_redelivered THEN
        p_delivery_id := v_return.delivery_id;
        RETURN;
    ELSIF v_return.recall_id IS NOT NULL
        AND v_agreement.inactive_indicator = 'N'
        AND v_agreement.effective_from > current_date IS NOT TRUE
        AND v_agreement.effective_to < current_date IS NOT TRUE
        -- The folder of one that was withdrawn is FOUND below.
        AND NOT EXISTS (
            SELECT FROM omd_delivery.arrival AS r
            WHERE r.agreement_id = v_agreement.agreement_id
                AND r.arrival_status = 'FOUND'
                AND r.snapshot_datetime = v_return.snapshot_datetime
        )
    THEN
        p_delivery_id := omd_delivery._redeliver_entry(
            v_agreement, v_return.recall_id, v_return.position, v_return.former_delivery_id
        );
        IF p_delivery_id IS NOT NULL THEN
            RETURN;
        END IF;
    END IF;
    SELECT d.delivery_id INTO p_delivery_id
    FROM omd_delivery.delivery AS d
    WHERE d.interface_id = v_agreement.interface_id
        AND d.layer_code = 'LVL'
        AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
        AND d.delivery_status <> 'ACCEPTED'
        AND d.agreement_id = v_agreement.agreement_id
    ORDER BY d.delivery_id
    LIMIT 1;
    IF FOUND THEN
        SELECT r.* INTO v_arrival
        FROM omd_delivery.arrival AS r
        WHERE r.delivery_id = p_delivery_id;
        IF v_arrival.arrival_status = 'CHANGED' THEN
            p_delivery_id := NULL;
        ELSE
            p_folder := v_arrival.folder;
        END IF;
        RETURN;
    END IF;
    -- It was accepted, and is still to be moved.
    SELECT r.delivery_id, r.folder INTO p_delivery_id, p_folder
    FROM omd_delivery.arrival AS r
    WHERE r.agreement_id = v_agreement.agreement_id AND r.arrival_status = 'TAKEN'
    ORDER BY r.snapshot_datetime, r.arrival_id
    LIMIT 1;
    IF FOUND
        OR v_agreement.arrival IS NULL
        OR v_agreement.inactive_indicator = 'Y'
        OR v_agreement.effective_from > current_date
        OR v_agreement.effective_to < current_date
    THEN
        RETURN;
    END IF;

    PERFORM omd_delivery._hold_location(v_agreement.agreement_id);
    FOR v_count IN 1..v_most LOOP
        SELECT r.* INTO v_arrival
        FROM omd_delivery.arrival AS r
        WHERE r.agreement_id = v_agreement.agreement_id AND r.arrival_status = 'FOUND'
        ORDER BY r.snapshot_datetime, r.arrival_id
        LIMIT 1;
        -- It would be in the way of what comes again before it.
        EXIT WHEN NOT FOUND OR omd_delivery._return_before(
            v_agreement.interface_id, v_arrival.snapshot_datetime
        ) IS NOT NULL;
        -- NULL would be all entities of the agreement.
        SELECT
            coalesce(
                jsonb_object_agg(
                    e.entity_code,
                    coalesce(v_agreement.arrival -> 'loads' -> e.entity_code, '"FULL"')
                ),
                '{}'
            )
        INTO v_entities
        FROM unnest(v_arrival.entities) AS e (entity_code);
        BEGIN
            CALL omd_delivery.create_delivery(
                p_agreement_code,
                p_snapshot_datetime => v_arrival.snapshot_datetime,
                p_entities => v_entities,
                p_delivery_id => p_delivery_id,
                p_delivery_status => v_status
            );
            UPDATE omd_delivery.arrival AS r SET
                arrival_status = 'TAKEN',
                delivery_id = p_delivery_id,
                problem = NULL
            WHERE r.arrival_id = v_arrival.arrival_id;
            p_folder := v_arrival.folder;
            EXIT;
        EXCEPTION
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS
                    v_sqlstate = RETURNED_SQLSTATE,
                    v_message = MESSAGE_TEXT;
                IF v_sqlstate NOT LIKE 'OM%' THEN
                    RAISE;
                END IF;
                p_delivery_id := NULL;
        END;
        UPDATE omd_delivery.arrival AS r SET
            arrival_status = 'REFUSED',
            refused_fingerprint = r.fingerprint,
            delivery_id = NULL,
            problem = format('%s: %s', v_sqlstate, left(split_part(v_message, E'\n', 1), 1000))
        WHERE r.arrival_id = v_arrival.arrival_id;
    END LOOP;
END
$take_arrival$;

COMMENT ON PROCEDURE omd_delivery.take_arrival IS
'For programs: '
'Returns p_delivery_id, the delivery that the agreement p_agreement_code is to run next, and '
'p_folder, the folder in its location that has the files: one that a recall makes come again from '
'its recorded files, p_folder NULL, which is created when it is DUE (omd_provenance.redeliver says '
'where the files are); else its unfinished delivery (p_folder NULL: it was not made of a folder); '
'else one that was accepted and whose folder is to be moved; else '
'that of the oldest FOUND, which is created with the entities whose files are there. A folder '
'whose delivery can''t be created is REFUSED, and the next goes on. NULL: there is none, one of an '
'earlier time must come again first, the '
'agreement takes none today, or its unfinished one is of a folder that was CHANGED. Errors: OM005: '
'p_agreement_code is NULL; OM013: it is not allowed as a name; OM014: the isolation level is not '
'read committed; OM033: there is no such agreement; OM036: it is of another layer. Locks: the '
'interface, the location, the arrival, the staging tables. Call again when the answer was lost. '
'May be NULL: p_delivery_id, p_folder.';
GRANT EXECUTE ON PROCEDURE omd_delivery.take_arrival TO omd_runner;
