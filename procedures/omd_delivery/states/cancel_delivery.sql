-- What is cancelled may be delivered again; there is no status between, since the fence holds at
-- once.

CREATE OR REPLACE PROCEDURE omd_delivery.cancel_delivery(
    p_delivery_id bigint,
    p_reason text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $cancel_delivery$
DECLARE
    v_delivery omd_delivery.delivery;
BEGIN
    p_reason := omd.require_argument('p_reason', p_reason);
    v_delivery := omd_delivery._hold_delivery(p_delivery_id);
    PERFORM omd_delivery._require_event(v_delivery, 'cancel_delivery', 'be cancelled');
    PERFORM omd_delivery._end_run(v_delivery, p_reason, 'CANCELLED');
    PERFORM omd_delivery._move(p_delivery_id, 'CANCELLED', 'cancel_delivery', p_reason);
    IF omd.is_by_hand() THEN
        PERFORM omd.write_event(
            0, 0, 4, 'CANCELLED',
            format(
                '%s: delivery %s was cancelled: %s',
                omd.editor(), p_delivery_id, p_reason
            )
        );
    END IF;
END
$cancel_delivery$;

COMMENT ON PROCEDURE omd_delivery.cancel_delivery IS
'Cancels the delivery p_delivery_id: the work is not wanted. p_reason: why. A run of it is ended '
'as failed, and its later calls are refused. Errors: OM005: an argument is NULL; OM014: the '
'isolation level is not read committed; OM034: there is no such delivery; OM130: it is in '
'another status than RECEIVED, LOADED and VALIDATED. Locks: the interface, the delivery, the '
'instances of a run. Call again when the answer was lost; OM130 with delivery_status CANCELLED '
'says that it is done.';
GRANT EXECUTE ON PROCEDURE omd_delivery.cancel_delivery TO omd_runner;
