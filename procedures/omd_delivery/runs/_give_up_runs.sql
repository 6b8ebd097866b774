-- A dead run can't report its own end, so the next begin of the interface ends it. A session that
-- has written rows of it and not ended its transaction holds the delivery: a begin never waits, so
-- such a run counts as one that is at work.

CREATE OR REPLACE FUNCTION omd_delivery._give_up_runs(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $give_up_runs$
DECLARE
    v_delivery omd_delivery.delivery;
BEGIN
    FOR v_delivery IN
        SELECT d.*
        FROM omd_delivery.delivery AS d
        WHERE d.interface_id = p_interface_id
            AND d.layer_code = 'LVL'
            AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
            AND d.is_running
            AND NOT omd_delivery._run_lives(d.delivery_id)
        ORDER BY d.delivery_id
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM omd_delivery._end_run(
            v_delivery, 'the run was declared dead because an instance of it is', 'GIVEN UP'
        );
    END LOOP;
END
$give_up_runs$;

COMMENT ON FUNCTION omd_delivery._give_up_runs IS
'Ends the dead runs of the interface p_interface_id, whose lock the caller holds, but for those '
'whose rows a transaction still writes. Locks: the deliveries, without a wait; what executes in '
'the runs, their Batch Instances.';
