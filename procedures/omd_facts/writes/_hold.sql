-- Writers of an interface go one by one, in the order of their times. The row of the interface says
-- who writes, so no session can pretend to have been here.

CREATE OR REPLACE FUNCTION omd_facts._hold(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold$
DECLARE
    v_interface omd_facts.interface;
    v_delivery omd_facts.gdal_delivery;
    v_setting text := current_setting('omd_facts.delivery_id', TRUE);
    v_unfinished_id bigint;
    v_at timestamptz;
    v_change_id bigint;
BEGIN
    PERFORM omd.require_read_committed();
    SELECT i.* INTO v_interface FROM omd_facts.interface AS i WHERE i.interface_id = p_interface_id;
    PERFORM omd_delivery.hold_interface(v_interface.interface_code);
    IF v_setting ~ '^\d{1,18}$' THEN
        SELECT g.* INTO v_delivery
        FROM omd_facts.gdal_delivery AS g
        WHERE g.delivery_id = v_setting::bigint
            AND g.interface_id = p_interface_id
            AND g.closed_datetime IS NULL;
    END IF;
    IF v_delivery.delivery_id IS NULL THEN
        PERFORM omd.raise_error(
            'OM150',
            jsonb_build_object(
                'delivery_id', nullif(v_setting, ''), 'interface_code', v_interface.interface_code
            )
        );
    END IF;
    IF v_delivery.opened_by <> session_user THEN
        PERFORM omd.raise_error(
            'OM069',
            jsonb_build_object(
                'delivery_id', v_delivery.delivery_id, 'opened_by', v_delivery.opened_by
            )
        );
    END IF;
    v_unfinished_id := omd_delivery.unfinished_delivery(p_interface_id);
    IF v_unfinished_id IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM151',
            jsonb_build_object(
                'delivery_id', v_unfinished_id, 'interface_code', v_interface.interface_code
            )
        );
    END IF;
    PERFORM FROM omd_facts.interface AS i
    WHERE i.interface_id = p_interface_id AND i.writer_transaction = pg_current_xact_id();
    IF FOUND THEN
        RETURN;
    END IF;
    UPDATE omd_facts.interface AS i SET
        traveling_now = greatest(clock_timestamp(), i.traveling_now + interval '1 microsecond'),
        writer_transaction = pg_current_xact_id(),
        writer_delivery_id = v_delivery.delivery_id,
        writer_instance_id = v_delivery.module_instance_id,
        writer_change_id = NULL,
        writer_terms = omd_delivery.write_terms(v_delivery.delivery_id)
    WHERE i.interface_id = p_interface_id
    RETURNING i.traveling_now INTO v_at;
    INSERT INTO omd_facts.transaction_log (interface_id, transaction_datetime, delivery_id)
    VALUES (p_interface_id, v_at, v_delivery.delivery_id);
    v_change_id := omd_facts._begin_change(
        p_interface_id, 'CRUD', v_at, v_delivery.module_instance_id, v_delivery.delivery_id, '{}'
    );
    IF v_change_id IS NOT NULL THEN
        UPDATE omd_facts.interface AS i SET writer_change_id = v_change_id
        WHERE i.interface_id = p_interface_id;
    END IF;
END
$hold$;

COMMENT ON FUNCTION omd_facts._hold IS
'Lets this transaction write facts of the interface p_interface_id. Errors: OM014, OM069: another '
'login has opened the delivery that the session names, OM150: the session names no open delivery '
'of it, OM151: an LVL delivery is not at an end. Locks: the interface in both rooms, until the '
'transaction ends.';
