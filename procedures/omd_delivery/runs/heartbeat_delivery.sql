-- It takes no lock that a long apply_delta holds. So a call that ends the run may commit while it
-- waits for an instance. The delivery says more about that end than the instance, so it is looked
-- at again.

CREATE OR REPLACE PROCEDURE omd_delivery.heartbeat_delivery(
    p_delivery_id bigint,
    p_attempt integer,
    p_lease interval
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $heartbeat_delivery$
DECLARE
    v_delivery omd_delivery.delivery;
    v_module_instance_id bigint;
BEGIN
    p_attempt := omd.require_argument('p_attempt', p_attempt);
    LOOP
        v_delivery := omd_delivery._require_delivery(p_delivery_id);
        IF v_delivery.attempt <> p_attempt THEN
            PERFORM omd_delivery._raise_fenced(v_delivery, p_attempt);
        END IF;
        PERFORM omd_delivery._require_event(v_delivery, 'begin_delivery', 'renew its leases');
        PERFORM omd_delivery._require_run(v_delivery);
        BEGIN
            FOR v_module_instance_id IN
                SELECT de.module_instance_id
                FROM omd_delivery.delivery_entity AS de
                WHERE de.delivery_id = p_delivery_id
                ORDER BY de.module_instance_id
            LOOP
                CALL omd.heartbeat(v_module_instance_id, p_lease);
            END LOOP;
            RETURN;
        EXCEPTION
            WHEN SQLSTATE 'OM101' THEN
                NULL; -- one of the looks above finds out why
        END;
    END LOOP;
END
$heartbeat_delivery$;

COMMENT ON PROCEDURE omd_delivery.heartbeat_delivery IS
'For programs: '
'Renews the leases of the run p_attempt of the delivery p_delivery_id to p_lease (an interval) '
'from now. A lease that has expired can''t be renewed: stop the work. Errors: OM005: an argument '
'is NULL; OM011, OM013: p_lease is not allowed; OM034: there is no such delivery; OM107: a lease '
'has expired; OM130: the delivery is decided; OM132: p_attempt is not its newest run, or has '
'ended. Locks: the instances. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.heartbeat_delivery TO omd_runner;
