-- A Batch Instance lives as long as one of its Modules does, so its lease is renewed with the
-- Module's.
--
-- Beside a transaction that sleeps, the former versions of the row stay, and an index holds those
-- of a row in the order of their pages: a look-up by key passes all of them. Read backwards, the
-- newest one comes first (after 12,000 renewals 2 pages are read instead of 260). A range of one
-- key is not taken for an equality, which would drop the order.

CREATE OR REPLACE PROCEDURE omd.heartbeat(
    p_module_instance_id bigint,
    p_lease interval
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $heartbeat$
DECLARE
    v_lease interval := omd._require_lease(p_lease);
    v_batch_instance_id bigint;
BEGIN
    v_lease := omd.require_argument('p_lease', v_lease);

    UPDATE omd.module_instance AS mi SET lease_expires_at = clock_timestamp() + v_lease
    WHERE mi.ctid = (
            SELECT n.ctid FROM omd.module_instance AS n
            WHERE n.module_instance_id BETWEEN p_module_instance_id AND p_module_instance_id
            ORDER BY n.module_instance_id DESC
            LIMIT 1
        )
        AND mi.execution_status_code = 'E'
        AND coalesce(mi.lease_expires_at, 'infinity') >= clock_timestamp()
    RETURNING mi.batch_instance_id INTO v_batch_instance_id;

    -- Another session may have changed the row since, so that it stands elsewhere.
    IF NOT FOUND THEN
        UPDATE omd.module_instance AS mi SET lease_expires_at = clock_timestamp() + v_lease
        WHERE mi.module_instance_id = p_module_instance_id
            AND mi.execution_status_code = 'E'
            AND coalesce(mi.lease_expires_at, 'infinity') >= clock_timestamp()
        RETURNING mi.batch_instance_id INTO v_batch_instance_id;
    END IF;

    IF NOT FOUND THEN
        IF EXISTS (
            SELECT FROM omd.module_instance AS mi
            WHERE mi.module_instance_id = p_module_instance_id AND mi.execution_status_code = 'E'
        ) THEN
            PERFORM omd.raise_error(
                'OM107',
                jsonb_build_object(
                    'instance_type', 'Module Instance', 'instance_id', p_module_instance_id
                )
            );
        END IF;
        PERFORM omd._raise_module_instance_state(p_module_instance_id, 'renew its lease');
    END IF;

    -- The Batch must not expire before its Module does. Who holds its row ends or renews it, and
    -- may have moved it.
    IF v_batch_instance_id <> 0 THEN
        UPDATE omd.batch_instance AS bi SET
            lease_expires_at = greatest(bi.lease_expires_at, clock_timestamp() + v_lease)
        WHERE bi.ctid = (
                SELECT n.ctid FROM omd.batch_instance AS n
                WHERE n.batch_instance_id BETWEEN v_batch_instance_id AND v_batch_instance_id
                ORDER BY n.batch_instance_id DESC
                LIMIT 1
            )
            AND bi.execution_status_code = 'E'
            AND bi.lease_expires_at IS NOT NULL;
        IF NOT FOUND THEN
            UPDATE omd.batch_instance AS bi SET
                lease_expires_at = greatest(bi.lease_expires_at, clock_timestamp() + v_lease)
            WHERE bi.batch_instance_id = v_batch_instance_id
                AND bi.execution_status_code = 'E'
                AND bi.lease_expires_at IS NOT NULL;
        END IF;
    END IF;
END
$heartbeat$;

COMMENT ON PROCEDURE omd.heartbeat IS
'For programs: '
'Renews the lease of a Module Instance, and that of its Batch Instance, to p_lease (an interval) '
'from now. A lease that has expired can''t be renewed: stop the work. Errors: OM004, OM005, '
'OM011, OM013, OM101 (declared dead, or ended), OM107 (the lease has expired). Locks: the two '
'instance rows. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.heartbeat TO omd_runner;
