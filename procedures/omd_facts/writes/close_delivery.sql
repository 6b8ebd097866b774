-- The lock of the interface is that of writers, so what they have written is committed.

CREATE OR REPLACE PROCEDURE omd_facts.close_delivery(
    p_delivery_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $close_delivery$
DECLARE
    v_delivery record;
BEGIN
    p_delivery_id := omd.require_argument('p_delivery_id', p_delivery_id);
    SELECT g.*, i.interface_code INTO v_delivery
    FROM omd_facts.gdal_delivery AS g
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE g.delivery_id = p_delivery_id;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM034', jsonb_build_object('delivery_id', p_delivery_id));
    END IF;
    IF v_delivery.opened_by <> session_user AND NOT pg_has_role(
        session_user, 'omd_admin', 'USAGE'
    ) THEN
        PERFORM omd.raise_error(
            'OM069',
            jsonb_build_object('delivery_id', p_delivery_id, 'opened_by', v_delivery.opened_by)
        );
    END IF;
    PERFORM omd_delivery.hold_interface(v_delivery.interface_code);
    UPDATE omd_facts.gdal_delivery AS g SET closed_datetime = clock_timestamp()
    WHERE g.delivery_id = p_delivery_id AND g.closed_datetime IS NULL;
    IF FOUND THEN
        PERFORM omd_delivery.move_delivery(p_delivery_id, 'PERSISTED');
        -- Somebody may have ended the instance by hand.
        IF (
            SELECT s.execution_status_code = 'E'
            FROM omd.instance_state(v_delivery.module_instance_id) AS s
        ) THEN
            CALL omd.module_success(v_delivery.module_instance_id);
        END IF;
    END IF;
END
$close_delivery$;

COMMENT ON PROCEDURE omd_facts.close_delivery IS
'For programs: '
'Closes the delivery p_delivery_id after the writers at work, and ends its Module Instance; '
'again, it changes nothing. Errors: OM101, OM130, OM005, OM034: there is no such delivery, OM069: '
'another login has opened it, and this one is no omd_admin. Locks: the interface, the delivery. '
'Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_facts.close_delivery TO omd_runner, omd_data_writer, omd_admin;
