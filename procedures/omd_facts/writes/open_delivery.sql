-- The Module Instance of the delivery has no lease: a delivery may be open for days.

CREATE OR REPLACE PROCEDURE omd_facts.open_delivery(
    p_agreement_code text,
    p_physical_delete_allowed boolean DEFAULT FALSE,
    INOUT p_delivery_id bigint DEFAULT NULL,
    p_is_local boolean DEFAULT FALSE
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $open_delivery$
DECLARE
    v_interface omd_facts.interface;
    v_module_code text;
    v_open_id bigint;
    v_instance_id bigint;
    v_indicator text;
    v_reason text;
BEGIN
    p_physical_delete_allowed := omd.require_argument(
        'p_physical_delete_allowed', p_physical_delete_allowed
    );
    p_is_local := omd.require_argument('p_is_local', p_is_local);
    PERFORM omd.require_read_committed();
    PERFORM omd.require_name('p_agreement_code', p_agreement_code);
    p_delivery_id := omd_delivery.insert_delivery(p_agreement_code, 'GDAL');
    SELECT i.* INTO v_interface
    FROM omd_delivery.delivery_head(p_delivery_id) AS d
    INNER JOIN omd_facts.interface AS i ON d.interface_id = i.interface_id;
    IF NOT FOUND THEN
        PERFORM omd_facts._raise_not_deployed(d.interface_code)
        FROM omd_delivery.delivery_head(p_delivery_id) AS d;
    END IF;
    -- A deployment takes the interface before its row in this room, which the row below refers to.
    IF NOT v_interface.is_indexed THEN
        PERFORM omd_delivery.hold_interface(v_interface.interface_code);
        PERFORM omd_facts._index_all(v_interface.interface_id);
    END IF;
    -- The row is the lock of the agreement: who comes second waits for it.
    INSERT INTO omd_facts.gdal_delivery (
        delivery_id, interface_id, agreement_code, module_instance_id, is_physical_delete_allowed
    )
    VALUES (
        p_delivery_id, v_interface.interface_id, p_agreement_code, 0, p_physical_delete_allowed
    )
    ON CONFLICT (agreement_code) WHERE closed_datetime IS NULL DO NOTHING;
    IF NOT FOUND THEN
        SELECT g.delivery_id INTO v_open_id
        FROM omd_facts.gdal_delivery AS g
        WHERE g.agreement_code = p_agreement_code AND g.closed_datetime IS NULL;
        PERFORM omd.raise_error(
            'OM152',
            jsonb_build_object('delivery_id', v_open_id, 'agreement_code', p_agreement_code)
        );
    END IF;
    v_module_code := 'gdal.' || p_agreement_code;
    CALL omd.begin_for_room(
        v_module_code, NULL, NULL, NULL, NULL, v_instance_id, v_indicator, v_reason
    );
    IF v_indicator <> 'P' THEN
        PERFORM omd.raise_error(
            'OM232',
            jsonb_build_object(
                'agreement_code', p_agreement_code,
                'problem', format('can''t write: Module "%s" may not run', v_module_code)
            )
        );
    END IF;
    PERFORM omd_delivery.move_delivery(p_delivery_id, 'PERSISTING');
    UPDATE omd_facts.gdal_delivery AS g SET module_instance_id = v_instance_id
    WHERE g.delivery_id = p_delivery_id;
    PERFORM set_config('omd_facts.delivery_id', p_delivery_id::text, p_is_local);
END
$open_delivery$;

COMMENT ON PROCEDURE omd_facts.open_delivery IS
'For programs: '
'Opens a delivery under the GDAL agreement p_agreement_code, and makes the session write under it; '
'other sessions of the same login SET omd_facts.delivery_id. p_physical_delete_allowed: a session '
'may delete physically. p_is_local: only this transaction writes under it, until others SET it; a '
'pooler in transaction mode needs that. Returns p_delivery_id. Errors: OM005, OM013, OM014, OM031, '
'OM033, OM036: the agreement is of another layer, OM152: it has an open delivery, OM232, OM251: '
'the interface is not deployed. Locks: the agreement, the Module; the first time for an interface, '
'that in both rooms and its tables, against writers. It sets its session.';
GRANT EXECUTE ON PROCEDURE omd_facts.open_delivery TO omd_runner, omd_data_writer;
