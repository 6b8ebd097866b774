-- A tenant or an administrator says that the data is wrong; the work is ended with it.

CREATE OR REPLACE PROCEDURE omd_delivery.reject_delivery(
    p_delivery_id bigint,
    p_reason text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $reject_delivery$
DECLARE
    v_delivery omd_delivery.delivery;
BEGIN
    p_reason := omd.require_argument('p_reason', p_reason);
    v_delivery := omd_delivery._hold_delivery(p_delivery_id);
    PERFORM omd_delivery._require_event(v_delivery, 'reject_delivery', 'be rejected');
    PERFORM omd_delivery._end_run(v_delivery, p_reason, 'REJECTED');
    PERFORM omd_delivery._move(p_delivery_id, 'REJECTED', 'reject_delivery', p_reason);
    IF omd.is_by_hand() THEN
        PERFORM omd.write_event(
            0, 0, 4, 'REJECTED',
            format(
                '%s: delivery %s was rejected: %s',
                omd.editor(), p_delivery_id, p_reason
            )
        );
    END IF;
END
$reject_delivery$;

COMMENT ON PROCEDURE omd_delivery.reject_delivery IS
'Rejects the delivery p_delivery_id: its data is not wanted. p_reason: why. A run of it is ended '
'as failed, and its later calls are refused. Errors: OM005: an argument is NULL; OM014: the '
'isolation level is not read committed; OM034: there is no such delivery; OM130: it is in '
'another status than RECEIVED and LOADED. Locks: the interface, the delivery, the instances of a '
'run. Call again when the answer was lost; OM130 with delivery_status REJECTED says that it is '
'done.';
GRANT EXECUTE ON PROCEDURE omd_delivery.reject_delivery TO omd_runner, omd_admin;
