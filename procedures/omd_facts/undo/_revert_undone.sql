-- A second call, when the answer was lost, finds the delivery reverted.

CREATE OR REPLACE FUNCTION omd_facts._revert_undone(
    p_load omd_facts.load_log,
    p_reason text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $revert_undone$
BEGIN
    IF p_reason IS NULL
        OR (omd_delivery.delivery_head(p_load.delivery_id)).delivery_status = 'REVERTED'
    THEN
        RETURN;
    END IF;
    CALL omd_delivery.revert_delivery(p_load.delivery_id, p_reason);
    PERFORM omd.write_event(
        p_load.module_instance_id, 0, 4, 'REVERTED',
        format(
            'delivery %s, which this run had loaded, was reverted by %s: %s',
            p_load.delivery_id, omd.editor(), p_reason
        )
    );
END
$revert_undone$;

COMMENT ON FUNCTION omd_facts._revert_undone IS
'Reverts the delivery of p_load, which is undone, because of p_reason; NULL: it stays. Errors: '
'those of omd_delivery.revert_delivery. Locks: those of it.';
