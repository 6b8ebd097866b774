-- The offset stays where it is: all rows before it are there, or are undone and come again. The
-- former rows are undone here only on Spark; in PostgreSQL they go in the transaction that brings
-- the new ones.

CREATE OR REPLACE FUNCTION omd_lineage._start_restated_step(
    p_topic_id integer,
    p_hostid text,
    p_module_instance_id bigint,
    p_restatement_id bigint,
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
AS $start_restated_step$
DECLARE
    v_plan_number bigint;
BEGIN
    UPDATE omd_lineage.restatement AS r SET first_instance_id = p_module_instance_id
    WHERE r.restatement_id = p_restatement_id AND r.first_instance_id IS NULL;
    UPDATE omd_lineage.offsets AS o SET
        undone_from = CASE WHEN t.engine = 'SPARK' THEN p_start_pos END,
        hostid = p_hostid,
        module_instance_id = p_module_instance_id,
        plan_number = o.plan_number + 1,
        attempts = o.attempts + 1,
        run = clock_timestamp(),
        state = 'RUNNING'
    FROM omd_lineage.topic AS t
    WHERE o.topic_id = p_topic_id AND t.topic_id = p_topic_id
    RETURNING o.plan_number INTO v_plan_number;

    PERFORM omd.record_load_window(
        p_module_instance_id, t.module_id, p_start_pos, p_start_id, p_end_pos, p_end_id,
        omd_lineage._block_source(p_topic_id)
    )
    FROM omd_lineage.topic AS t
    WHERE t.topic_id = p_topic_id;
    PERFORM omd_lineage._record_runs(
        p_topic_id, p_module_instance_id, p_start_pos, p_start_id, p_end_pos, p_end_id
    );
    RETURN v_plan_number;
END
$start_restated_step$;

COMMENT ON FUNCTION omd_lineage._start_restated_step IS
'Records the step of the topic p_topic_id by p_hostid that takes the block (p_start_pos and '
'p_start_id, p_end_pos and p_end_id] of the range p_restatement_id again, as p_module_instance_id.'
' Returns the plan number, the only one under which the step may end. Locks: the offset, the '
'range.';
GRANT EXECUTE ON FUNCTION omd_lineage._start_restated_step TO omd_runner;
