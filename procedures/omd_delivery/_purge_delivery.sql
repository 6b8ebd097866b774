-- The lock of the interface keeps away what else deletes deltas: rollbacks and physical deletes.

CREATE OR REPLACE FUNCTION omd_delivery._purge_delivery(
    p_before timestamptz,
    INOUT p_last_datetime timestamptz,
    INOUT p_last_id bigint,
    INOUT p_purged bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_delivery$
BEGIN
    SELECT d.status_datetime, d.delivery_id INTO p_last_datetime, p_last_id
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.delivery_status AS s USING (layer_code, delivery_status)
    WHERE d.purged_datetime IS NULL
        AND s.is_end
        AND d.status_datetime < p_before
        AND (d.status_datetime, d.delivery_id) > (p_last_datetime, p_last_id)
    ORDER BY d.status_datetime, d.delivery_id
    LIMIT 1;
    PERFORM FROM omd_delivery.interface AS i
    WHERE i.interface_id = (
        SELECT d.interface_id FROM omd_delivery.delivery AS d WHERE d.delivery_id = p_last_id
    )
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A revert or the facts may have moved it meanwhile.
    UPDATE omd_delivery.delivery AS d SET purged_datetime = clock_timestamp()
    FROM omd_delivery.delivery_status AS s
    WHERE d.delivery_id = p_last_id
        AND d.purged_datetime IS NULL
        AND d.layer_code = s.layer_code
        AND d.delivery_status = s.delivery_status
        AND s.is_end;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM omd_delivery._delete_delta(de.entity_id, p_last_id)
    FROM omd_delivery.delivery_entity AS de
    WHERE de.delivery_id = p_last_id;
    DELETE FROM omd_delivery.sample AS s WHERE s.delivery_id = p_last_id;
    p_purged := p_purged + 1;
END
$purge_delivery$;

COMMENT ON FUNCTION omd_delivery._purge_delivery IS
'Purges, of the deliveries that ended before p_before, the first behind p_last_datetime and '
'p_last_id, unless its interface is locked. It returns the delivery that it looked at, NULL at the'
' end, and adds it to p_purged. Locks: the interface, the delivery, its rows.';
REVOKE ALL ON FUNCTION omd_delivery._purge_delivery FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_delivery._purge_delivery TO omd_admin;
