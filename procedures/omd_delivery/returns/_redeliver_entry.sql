-- It is what create_delivery made of the former one, with the same arguments. Its files are read
-- where they are, so the staging tables stay as they are, and a delivery of the agreement that
-- waits behind it is in nobody's way.

CREATE OR REPLACE FUNCTION omd_delivery._redeliver_entry(
    p_agreement omd_delivery.agreement,
    p_recall_id bigint,
    p_position integer,
    p_former_id bigint
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $redeliver_entry$
DECLARE
    v_former omd_delivery.delivery;
    v_delivery_id bigint;
    v_problem text;
    v_sqlstate text;
BEGIN
    v_problem := omd_delivery._hand_reason(p_former_id);
    IF v_problem IS NULL THEN
        BEGIN
            SELECT d.* INTO v_former
            FROM omd_delivery.delivery AS d WHERE d.delivery_id = p_former_id;
            v_delivery_id := omd_delivery._insert_delivery(
                p_agreement, v_former.snapshot_datetime, NULL, 'redeliver'
            );
            UPDATE omd_delivery.delivery AS d SET
                delete_type = v_former.delete_type,
                include_existing = v_former.include_existing,
                context = v_former.context,
                message = v_former.message
            WHERE d.delivery_id = v_delivery_id;
            INSERT INTO omd_delivery.delivery_entity (
                delivery_id, entity_id, load_type, context_type, rows_announced, allows_deletes
            )
            SELECT
                v_delivery_id, de.entity_id, de.load_type, de.context_type, de.rows_announced,
                de.allows_deletes
            FROM omd_delivery.delivery_entity AS de
            WHERE de.delivery_id = p_former_id;
            -- It may be withdrawn itself before it is staged.
            INSERT INTO omd_delivery.delivery_file (
                delivery_id, entity_id, file_no, uri, bytes, modified_datetime, root
            )
            SELECT
                v_delivery_id, f.entity_id, f.file_no, f.uri, f.bytes, f.modified_datetime, f.root
            FROM omd_delivery.delivery_file AS f
            WHERE f.delivery_id = p_former_id;
            PERFORM omd_delivery._require_marks(v_delivery_id);
            PERFORM omd_delivery._require_contexts(v_delivery_id);
        EXCEPTION
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS
                    v_sqlstate = RETURNED_SQLSTATE,
                    v_problem = MESSAGE_TEXT;
                IF v_sqlstate NOT LIKE 'OM%' THEN
                    RAISE;
                END IF;
                v_problem := format('%s: %s', v_sqlstate, v_problem);
                v_delivery_id := NULL;
        END;
    END IF;
    PERFORM omd.settle_return(
        p_recall_id, p_position, v_delivery_id, FALSE,
        p_is_by_hand => v_problem IS NOT NULL OR NULL,
        p_problem => v_problem
    );
    RETURN v_delivery_id;
END
$redeliver_entry$;

COMMENT ON FUNCTION omd_delivery._redeliver_entry IS
'Creates the delivery of p_agreement that is to fill the entry p_position of the recall '
'p_recall_id with the arguments of p_former_id, and returns it; NULL: it can''t be created, and '
'its tenant must bring it. Locks: the entry.';
