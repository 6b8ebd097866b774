-- The instances are locked last: until then heartbeats do not wait for a long transaction.

CREATE OR REPLACE FUNCTION omd_delivery._succeed_run(
    p_delivery_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $succeed_run$
DECLARE
    v_batch_instance_id bigint;
    v_entity record;
BEGIN
    SELECT d.batch_instance_id INTO v_batch_instance_id
    FROM omd_delivery.delivery AS d
    WHERE d.delivery_id = p_delivery_id;
    FOR v_entity IN
        SELECT
            de.*,
            r.rows_delivered,
            r.rows_skipped
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.delivery_entity AS de USING (delivery_id)
        INNER JOIN omd_delivery.entity_result AS r
            ON d.delivery_id = r.delivery_id
                AND d.attempt = r.attempt
                AND r.stage = 2
                AND de.entity_id = r.entity_id
        WHERE d.delivery_id = p_delivery_id
        ORDER BY de.module_instance_id
    LOOP
        -- Its rows came to LVL in this transaction.
        PERFORM omd.note_one_transaction(v_entity.module_instance_id);
        CALL omd.module_success(
            v_entity.module_instance_id,
            p_rows_input => v_entity.rows_delivered,
            p_rows_inserted => v_entity.rows_new,
            p_rows_updated => v_entity.rows_changed,
            p_rows_deleted => v_entity.rows_deleted,
            p_rows_discarded => v_entity.rows_unchanged,
            p_rows_rejected => v_entity.rows_skipped
        );
    END LOOP;
    CALL omd.batch_success(v_batch_instance_id);
    PERFORM omd.clear_failures(m.module_id)
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.agreement AS a USING (agreement_id)
    INNER JOIN omd.module_target AS m ON a.batch_code = m.module_code
    WHERE d.delivery_id = p_delivery_id;
END
$succeed_run$;

COMMENT ON FUNCTION omd_delivery._succeed_run IS
'Ends the newest run of the delivery p_delivery_id with success and its numbers of rows. Errors: '
'OM101: an instance was ended. Locks: the instances.';
