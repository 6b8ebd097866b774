-- A run at work is fenced at once: it can't finish any more.

CREATE OR REPLACE PROCEDURE omd_facts.cancel_export(
    p_delivery_id bigint,
    p_reason text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $cancel_export$
DECLARE
    v_export omd_facts.export := omd_facts._hold_export(p_delivery_id);
    v_status text;
BEGIN
    p_reason := omd.require_argument('p_reason', p_reason);
    PERFORM omd_facts._require_unended(p_delivery_id);
    SELECT s.execution_status_code INTO v_status
    FROM omd.instance_state(v_export.module_instance_id) AS s;
    IF v_status = 'E' THEN
        CALL omd.module_failure(v_export.module_instance_id, p_reason, 'CANCELLED');
    END IF;
    PERFORM omd_delivery.move_delivery(p_delivery_id, 'CANCELLED', p_reason);
    IF omd.is_by_hand() THEN
        PERFORM omd.write_event(
            0, 0, 4, 'CANCELLED',
            format(
                '%s: export %s was cancelled: %s',
                omd.editor(), p_delivery_id, p_reason
            )
        );
    END IF;
END
$cancel_export$;

COMMENT ON PROCEDURE omd_facts.cancel_export IS
'Cancels the export p_delivery_id because of p_reason, and ends a run of it as failed. Files that '
'it has written stay. Errors: OM004, OM005, OM014, OM034: there is no such export, OM101, OM130, '
'OM155: it has ended. Locks: the export, the delivery, the instance row.';
GRANT EXECUTE ON PROCEDURE omd_facts.cancel_export TO omd_runner;
