-- The offset does not move, since the block lies behind it. The times of the log are those of the
-- former run: nothing has walked through the block to find them.

CREATE OR REPLACE FUNCTION omd_lineage._end_restated_step(
    p_topic_id integer,
    p_module_instance_id bigint,
    p_rows bigint,
    p_nulls jsonb,
    p_query_id text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_restated_step$
DECLARE
    v_offset omd_lineage.offsets;
    v_former_array bigint[];
BEGIN
    SELECT o.* INTO v_offset FROM omd_lineage.offsets AS o WHERE o.topic_id = p_topic_id;
    SELECT r.former_array INTO v_former_array FROM omd_lineage.restatement AS r
    WHERE r.restatement_id = v_offset.restatement_id;
    UPDATE omd_lineage.offsets AS o SET
        restatement_id = NULL,
        undone_from = NULL,
        attempts = 0,
        hostid = '',
        module_instance_id = NULL,
        state = 'DONE',
        run = clock_timestamp()
    WHERE o.topic_id = p_topic_id;
    INSERT INTO omd_lineage.log (
        module_instance_id, topic_id, topic, ts, rows, max_id, min_ts, max_ts, nulls, query_id
    )
    SELECT
        p_module_instance_id, p_topic_id, v_offset.topic, clock_timestamp(), coalesce(p_rows, 0),
        max(l.max_id), min(l.min_ts), max(l.max_ts), coalesce(p_nulls, '{}'),
        p_query_id
    FROM omd_lineage.log AS l
    WHERE l.module_instance_id = ANY(v_former_array);
    UPDATE omd_lineage.restatement AS r SET
        block_start = NULL,
        block_end = NULL,
        former_array = NULL
    WHERE r.restatement_id = v_offset.restatement_id;
    PERFORM omd_lineage._notify_topic(v_offset.topic);
END
$end_restated_step$;

COMMENT ON FUNCTION omd_lineage._end_restated_step IS
'Ends the step p_module_instance_id of the topic p_topic_id, which has taken a block again and '
'written p_rows rows with p_nulls, and logs it with p_query_id. Locks: the offset, the range.';
