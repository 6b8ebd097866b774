-- This is the only place where the status of a Batch Instance becomes final. What still executes in
-- it fails with it; a success is refused while something executes.
--
-- The lock order of process control, for every routine, is: first the row of the Batch or Module;
-- then Module Instances, in the order of their ids; then Batch Instances, a child before its
-- parent. A begin locks the Batch Instance that calls last, FOR SHARE, so that it can't end before
-- the begin commits; since that comes after a long rollback, the lease of the Batch can be renewed
-- meanwhile. A session that holds a Batch Instance never waits for what a begin may hold: it leaves
-- locked instances alone (SKIP LOCKED), or has locked them before (_lock_members).

CREATE OR REPLACE FUNCTION omd._close_batch_instance(
    p_batch_instance_id bigint,
    p_execution_status_code text,
    p_reason text DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $close_batch_instance$
DECLARE
    v_is_sent boolean;
BEGIN
    UPDATE omd.batch_instance AS bi SET
        execution_status_code = p_execution_status_code,
        processing_indicator = CASE
            WHEN p_execution_status_code IN ('A', 'C') THEN p_execution_status_code
            ELSE bi.processing_indicator
        END,
        end_datetime = clock_timestamp(),
        reason_code = p_reason
    WHERE bi.batch_instance_id = p_batch_instance_id
        AND bi.execution_status_code = 'E'
        AND (p_execution_status_code <> 'S' OR bi.processing_indicator = 'P')
    RETURNING
        omd._tell_instance('Batch Instance', bi.batch_instance_id, bi.end_datetime)
    INTO v_is_sent;

    IF v_is_sent IS NULL THEN
        PERFORM omd._raise_batch_instance_state(
            p_batch_instance_id,
            CASE p_execution_status_code
                WHEN 'S' THEN 'succeed'
                WHEN 'F' THEN 'fail'
                WHEN 'A' THEN 'be aborted'
                ELSE 'be skipped'
            END
        );
    END IF;

    IF p_execution_status_code <> 'S' THEN
        PERFORM omd._fail_members(p_batch_instance_id);
    END IF;
END
$close_batch_instance$;

COMMENT ON FUNCTION omd._close_batch_instance IS
'Ends a Batch Instance with the status S, F, A or C. It is accepted from E only, and S only with '
'indicator P. What still executes in a Batch Instance that does not succeed fails with it. An '
'administrator''s next_run_indicator stays. Errors: OM003, OM005, OM101, OM102. Locks: the '
'instance row, and those of its members that nobody holds.';
