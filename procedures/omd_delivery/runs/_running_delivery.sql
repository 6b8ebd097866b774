-- One delivery of an interface runs at a time, since rules look across its entities.

CREATE OR REPLACE FUNCTION omd_delivery._running_delivery(
    p_interface_id integer
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $running_delivery$
BEGIN
    PERFORM omd_delivery._give_up_runs(p_interface_id);
    RETURN (
        SELECT min(d.delivery_id)
        FROM omd_delivery.delivery AS d
        WHERE d.interface_id = p_interface_id
            AND d.layer_code = 'LVL'
            AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
            AND d.is_running
    );
END
$running_delivery$;

COMMENT ON FUNCTION omd_delivery._running_delivery IS
'Returns the delivery of the interface p_interface_id that runs, NULL when none does; the caller '
'holds the lock of the interface. Dead runs are ended first. Locks: what executes in those, '
'their Batch Instances, the deliveries.';
