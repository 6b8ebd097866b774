-- A Batch Instance needs a heartbeat of its own only between its Modules; heartbeat renews its
-- lease during them. The newest version of the row is looked for first, as heartbeat says.

CREATE OR REPLACE PROCEDURE omd.heartbeat_batch(
    p_batch_instance_id bigint,
    p_lease interval
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $heartbeat_batch$
DECLARE
    v_lease interval := omd._require_lease(p_lease);
BEGIN
    v_lease := omd.require_argument('p_lease', v_lease);

    UPDATE omd.batch_instance AS bi SET lease_expires_at = clock_timestamp() + v_lease
    WHERE bi.ctid = (
            SELECT n.ctid FROM omd.batch_instance AS n
            WHERE n.batch_instance_id BETWEEN p_batch_instance_id AND p_batch_instance_id
            ORDER BY n.batch_instance_id DESC
            LIMIT 1
        )
        AND bi.execution_status_code = 'E'
        AND coalesce(bi.lease_expires_at, 'infinity') >= clock_timestamp();
    -- Another session may have changed the row since, so that it stands elsewhere.
    IF NOT FOUND THEN
        UPDATE omd.batch_instance AS bi SET lease_expires_at = clock_timestamp() + v_lease
        WHERE bi.batch_instance_id = p_batch_instance_id
            AND bi.execution_status_code = 'E'
            AND coalesce(bi.lease_expires_at, 'infinity') >= clock_timestamp();
    END IF;

    IF NOT FOUND THEN
        IF EXISTS (
            SELECT FROM omd.batch_instance AS bi
            WHERE bi.batch_instance_id = p_batch_instance_id AND bi.execution_status_code = 'E'
        ) THEN
            PERFORM omd.raise_error(
                'OM107',
                jsonb_build_object(
                    'instance_type', 'Batch Instance', 'instance_id', p_batch_instance_id
                )
            );
        END IF;
        PERFORM omd._raise_batch_instance_state(p_batch_instance_id, 'renew its lease');
    END IF;
END
$heartbeat_batch$;

COMMENT ON PROCEDURE omd.heartbeat_batch IS
'For programs: '
'Renews the lease of a Batch Instance to p_lease (an interval) from now. A lease that has expired '
'can''t be renewed. Errors: OM003, OM005, OM011, OM013, OM101 (declared dead, or ended), OM107 '
'(the lease has expired). Locks: the instance row. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.heartbeat_batch TO omd_runner;
