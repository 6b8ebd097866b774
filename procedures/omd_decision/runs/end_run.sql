-- The part of the kind STAGE in omd.room_hook: the transaction of a run has done all of it. A
-- window that was taken again lies before new ones, which may follow.

CREATE OR REPLACE PROCEDURE omd_decision.end_run(
    p_module_instance_id bigint,
    p_execution_status_code text,
    INOUT p_is_more boolean
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $end_run$
BEGIN
    p_is_more := p_execution_status_code = 'S' AND EXISTS (
        SELECT FROM omd_decision.run AS r
        CROSS JOIN LATERAL omd.instance_state(r.module_instance_id) AS i
        WHERE r.module_instance_id = p_module_instance_id
            AND r.supersedes IS NOT NULL
            AND num_nonnulls(i.end_value, i.end_id) > 0
    );
END
$end_run$;

COMMENT ON PROCEDURE omd_decision.end_run IS
'For rooms: Says whether anything may be left after the run p_module_instance_id, which has ended '
'with p_execution_status_code: p_is_more, it has taken a window again. Locks: none.';
GRANT EXECUTE ON PROCEDURE omd_decision.end_run TO omd_runner;
