-- The offset stays where it is: all rows before it are there, or come again by such blocks. A retry
-- of a planned block is none of them.

CREATE OR REPLACE FUNCTION omd_lineage._start_returned_step(
    p_topic_id integer,
    p_hostid text,
    p_module_instance_id bigint,
    p_start_pos timestamptz,
    p_start_id bigint,
    p_end_pos timestamptz,
    p_end_id bigint
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $start_returned_step$
DECLARE
    v_return_id bigint;
    v_plan_number bigint;
BEGIN
    SELECT r.p_window_return_id INTO v_return_id
    FROM omd_lineage.topic AS t
    CROSS JOIN LATERAL omd.next_window_return(t.module_id) AS r
    WHERE t.topic_id = p_topic_id
        AND t.processor <> 'RELOAD'
        AND (r.p_start_value, r.p_start_id, r.p_end_value, r.p_end_id)
        IS NOT DISTINCT FROM (
            p_start_pos, _start_returned_step.p_start_id, p_end_pos, _start_returned_step.p_end_id
        );
    IF v_return_id IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM omd.take_window(v_return_id, p_module_instance_id);
    UPDATE omd_lineage.offsets AS o SET
        hostid = p_hostid,
        module_instance_id = p_module_instance_id,
        plan_number = o.plan_number + 1,
        attempts = o.attempts + 1,
        run = clock_timestamp(),
        state = 'RUNNING'
    WHERE o.topic_id = p_topic_id
    RETURNING o.plan_number INTO v_plan_number;
    RETURN v_plan_number;
END
$start_returned_step$;

COMMENT ON FUNCTION omd_lineage._start_returned_step IS
'Records the step of the topic p_topic_id by p_hostid that takes the block (p_start_pos and '
'p_start_id, p_end_pos and p_end_id] again after a recall, as p_module_instance_id. Returns the '
'plan number, the only one under which the step may end; NULL: it is no such block. Locks: the '
'offset.';
GRANT EXECUTE ON FUNCTION omd_lineage._start_returned_step TO omd_runner;
