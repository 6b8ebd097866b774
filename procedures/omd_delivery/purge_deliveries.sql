-- Rows are needed as long as somebody may ask for them again; what was counted is kept for ever.

CREATE OR REPLACE PROCEDURE omd_delivery.purge_deliveries(
    p_keep interval,
    INOUT p_purged bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_deliveries$
DECLARE
    v_before timestamptz;
    v_delivery_id bigint;
BEGIN
    v_before := omd.purge_cutoff(p_keep, 1);
    p_purged := 0;
    FOR v_delivery_id IN
        SELECT d.delivery_id
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.delivery_status AS s USING (layer_code, delivery_status)
        WHERE d.purged_datetime IS NULL AND s.is_end AND d.status_datetime < v_before
        ORDER BY d.delivery_id
        FOR NO KEY UPDATE OF d SKIP LOCKED
    LOOP
        PERFORM omd_delivery._delete_delta(de.entity_id, v_delivery_id)
        FROM omd_delivery.delivery_entity AS de
        WHERE de.delivery_id = v_delivery_id;
        DELETE FROM omd_delivery.sample AS s WHERE s.delivery_id = v_delivery_id;
        UPDATE omd_delivery.delivery AS d SET purged_datetime = clock_timestamp()
        WHERE d.delivery_id = v_delivery_id;
        p_purged := p_purged + 1;
    END LOOP;
END
$purge_deliveries$;

COMMENT ON PROCEDURE omd_delivery.purge_deliveries IS
'Deletes the deltas and the samples of deliveries that ended longer than p_keep ago, and returns '
'in p_purged of how many deliveries. Their counts stay. Errors: OM005: p_keep is NULL; OM013: it '
'is negative. Locks: those deliveries; locked ones are left for the next call. Call again when '
'the answer was lost.';
REVOKE ALL ON PROCEDURE omd_delivery.purge_deliveries FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_delivery.purge_deliveries TO omd_admin;
