-- The step is recorded before a row is transformed, so that a retry finds the block and the plan
-- number bars a former holder of the topic. The caller holds the row, whose newest version comes
-- first when it is read backwards, as omd.heartbeat says. A step of 1.0.0 that is on its way while
-- OMD is upgraded calls it without p_is_whole.

CREATE OR REPLACE FUNCTION omd_lineage._start_step(
    p_topic_id integer,
    p_hostid text,
    p_module_instance_id bigint,
    p_start_pos timestamptz,
    p_start_id bigint,
    p_end_pos timestamptz,
    p_end_id bigint,
    p_row_count bigint,
    p_is_full boolean,
    p_min_ts timestamptz,
    p_max_id bigint,
    p_waited_for text,
    p_is_planned boolean,
    p_is_whole boolean DEFAULT FALSE
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $start_step$
DECLARE
    v_plan_number bigint;
    v_module_id integer;
    v_reads_facts boolean;
    v_reads_lake boolean;
BEGIN
    UPDATE omd_lineage.offsets AS o SET
        next = ROW(p_end_pos, p_end_id),
        rows = CASE WHEN p_is_planned THEN o.rows ELSE p_row_count END,
        is_full = CASE WHEN p_is_planned THEN o.is_full ELSE p_is_full END,
        next_is_whole = CASE WHEN p_is_planned THEN o.next_is_whole ELSE p_is_whole END,
        block_min_ts = CASE WHEN p_is_planned THEN o.block_min_ts ELSE p_min_ts END,
        block_max_id = CASE WHEN p_is_planned THEN o.block_max_id ELSE p_max_id END,
        waited_for = CASE WHEN p_is_planned THEN o.waited_for ELSE p_waited_for END,
        processor = t.processor,
        hostid = p_hostid,
        module_instance_id = p_module_instance_id,
        plan_number = o.plan_number + 1,
        attempts = o.attempts + 1,
        run = clock_timestamp(),
        state = 'RUNNING'
    FROM omd_lineage.topic AS t
    WHERE o.ctid = (
            SELECT n.ctid FROM omd_lineage.offsets AS n
            WHERE n.topic_id BETWEEN p_topic_id AND p_topic_id
            ORDER BY n.topic_id DESC
            LIMIT 1
        )
        AND t.topic_id = p_topic_id
    -- Most topics read neither, and need no further look.
    RETURNING
        o.plan_number,
        t.module_id,
        EXISTS (
            SELECT FROM omd_lineage.dependency AS d
            WHERE d.topic_id = p_topic_id AND d.ordinal = 1 AND d.source_kind_code = 'FACTS'
        ),
        EXISTS (
            SELECT FROM omd_lineage.dependency AS d
            INNER JOIN omd_lineage.topic AS s ON d.source_topic_id = s.topic_id
            WHERE d.topic_id = p_topic_id AND d.ordinal = 1 AND s.source_offset = 'LAKE'
        )
    INTO v_plan_number, v_module_id, v_reads_facts, v_reads_lake;
    PERFORM omd.record_load_window(
        p_module_instance_id, v_module_id, p_start_pos, p_start_id, p_end_pos, p_end_id,
        CASE WHEN v_reads_facts THEN omd_lineage._block_source(p_topic_id) END
    );
    IF v_reads_lake THEN
        PERFORM omd_lineage._record_runs(
            p_topic_id, p_module_instance_id, p_start_pos, p_start_id, p_end_pos, p_end_id
        );
    END IF;
    RETURN v_plan_number;
END
$start_step$;

COMMENT ON FUNCTION omd_lineage._start_step IS
'Records the step of the topic p_topic_id by p_hostid. Its block (p_start_pos and p_start_id, '
'p_end_pos and p_end_id] becomes the load window of p_module_instance_id. Unless the block was '
'planned before (p_is_planned), p_row_count, p_is_full, p_min_ts, p_max_id, p_waited_for and '
'p_is_whole are recorded with it. Returns the plan number, the only one under which the offset '
'may move. Locks: the offset.';
GRANT EXECUTE ON FUNCTION omd_lineage._start_step TO omd_runner;
