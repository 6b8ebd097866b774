-- Rows are needed as long as somebody may ask for them again; what was counted is kept for ever.
-- Each delivery is a transaction of its own, so that no interface is locked for long. A procedure
-- that commits can't set a search_path, so every name is qualified.

CREATE OR REPLACE PROCEDURE omd_delivery.purge_deliveries(
    p_keep interval,
    INOUT p_purged bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $purge_deliveries$
DECLARE
    v_before pg_catalog.timestamptz;
    v_last_datetime pg_catalog.timestamptz := '-infinity'::pg_catalog.timestamptz;
    v_last_id bigint := 0::bigint;
BEGIN
    CALL omd.require_no_transaction_block('omd_delivery.purge_deliveries');
    v_before := omd.purge_cutoff(p_keep, 1);
    p_purged := 0::bigint;
    LOOP
        SELECT s.p_last_datetime, s.p_last_id, s.p_purged
        INTO v_last_datetime, v_last_id, p_purged
        FROM omd_delivery._purge_delivery(v_before, v_last_datetime, v_last_id, p_purged) AS s;
        COMMIT;
        EXIT WHEN v_last_id IS NULL;
    END LOOP;
END
$purge_deliveries$;

COMMENT ON PROCEDURE omd_delivery.purge_deliveries IS
'Deletes the deltas and the samples of deliveries that ended longer than p_keep ago, and returns '
'in p_purged of how many deliveries. Their counts stay. It commits, so call it outside a '
'transaction block. Errors: OM005: p_keep is NULL; OM013: it is negative; OM018: it was called in '
'a transaction block. Locks: the interface and the delivery, for one transaction each; what is '
'locked is left for the next call. Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_delivery.purge_deliveries FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_delivery.purge_deliveries TO omd_admin;
