-- Rows are needed as long as somebody may ask for them again; what was counted is kept for ever.
-- The lock of the interface keeps away what else deletes deltas: rollbacks and physical deletes.
-- What is locked is left for the next purge.

CREATE OR REPLACE FUNCTION omd_delivery._purge_deltas(
    p_before timestamptz,
    p_limit integer,
    INOUT p_last_id bigint,
    INOUT p_deleted bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_deltas$
DECLARE
    v_delivery bigint;
BEGIN
    p_last_id := NULL;
    FOR v_delivery IN
        SELECT d.delivery_id
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.delivery_status AS s USING (layer_code, delivery_status)
        INNER JOIN omd_delivery.interface AS i ON d.interface_id = i.interface_id
        WHERE d.purged_datetime IS NULL AND s.is_end AND d.status_datetime < p_before
        ORDER BY d.status_datetime, d.delivery_id
        LIMIT p_limit
        FOR NO KEY UPDATE OF i SKIP LOCKED
    LOOP
        p_last_id := v_delivery;
        -- A revert or the facts may have moved it meanwhile.
        UPDATE omd_delivery.delivery AS d SET purged_datetime = clock_timestamp()
        FROM omd_delivery.delivery_status AS s
        WHERE d.delivery_id = v_delivery
            AND d.purged_datetime IS NULL
            AND d.layer_code = s.layer_code
            AND d.delivery_status = s.delivery_status
            AND s.is_end;
        CONTINUE WHEN NOT FOUND;
        PERFORM omd_delivery._delete_delta(de.entity_id, v_delivery)
        FROM omd_delivery.delivery_entity AS de
        WHERE de.delivery_id = v_delivery;
        DELETE FROM omd_delivery.sample AS s WHERE s.delivery_id = v_delivery;
        p_deleted := p_deleted + 1;
    END LOOP;
END
$purge_deltas$;

COMMENT ON FUNCTION omd_delivery._purge_deltas IS
'Deletes the deltas and samples of the p_limit first deliveries that ended before p_before and '
'whose interface is not locked. It returns the last delivery, NULL at the end, and adds their '
'number to p_deleted. Locks: the interfaces, the deliveries, their rows.';
GRANT EXECUTE ON FUNCTION omd_delivery._purge_deltas TO omd_admin;
