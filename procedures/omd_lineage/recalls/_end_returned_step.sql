-- The offset does not move, since the block lies behind it. The times of the log are those of the
-- former run: nothing has walked through the block to find them.

CREATE OR REPLACE FUNCTION omd_lineage._end_returned_step(
    p_module_instance_id bigint,
    p_plan_number bigint,
    p_rows bigint,
    p_nulls jsonb,
    p_query_id text
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_returned_step$
DECLARE
    v_topic record;
BEGIN
    UPDATE omd_lineage.offsets AS o SET
        attempts = 0,
        hostid = '',
        module_instance_id = NULL,
        state = 'DONE',
        run = clock_timestamp()
    FROM omd.open_window AS w
    WHERE o.module_instance_id = p_module_instance_id
        AND o.plan_number = p_plan_number
        AND o.hostid <> ''
        AND w.module_instance_id = p_module_instance_id
    RETURNING o.topic_id, o.topic, w.former_instances INTO v_topic;
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;
    PERFORM omd.end_window(p_module_instance_id);
    INSERT INTO omd_lineage.log (
        module_instance_id, topic_id, topic, ts, rows, max_id, min_ts, max_ts, nulls, query_id
    )
    SELECT
        p_module_instance_id, v_topic.topic_id, v_topic.topic, clock_timestamp(),
        coalesce(p_rows, 0), max(l.max_id), min(l.min_ts), max(l.max_ts), coalesce(p_nulls, '{}'),
        p_query_id
    FROM omd_lineage.log AS l
    WHERE l.module_instance_id = ANY(v_topic.former_instances);
    PERFORM omd_lineage._notify_topic(v_topic.topic);
    RETURN TRUE;
END
$end_returned_step$;

COMMENT ON FUNCTION omd_lineage._end_returned_step IS
'Ends the step p_module_instance_id under its fence p_plan_number if it has taken a block again '
'after a recall, and logs p_rows rows, p_nulls and p_query_id; returns whether it has. Locks: the '
'offset.';
