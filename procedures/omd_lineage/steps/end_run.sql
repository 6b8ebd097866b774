-- The part of the kind TOPIC in omd.room_hook. The success has moved the offset in its own
-- transaction; a failure releases the topic here.

CREATE OR REPLACE PROCEDURE omd_lineage.end_run(
    p_module_instance_id bigint,
    p_execution_status_code text,
    INOUT p_is_more boolean
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_run$
BEGIN
    p_is_more := FALSE;
    IF p_execution_status_code <> 'S' THEN
        CALL omd_lineage.fail_step(p_module_instance_id);
    ELSIF current_setting('omd.first_begin', TRUE) <> '' THEN
        -- A block that was taken again lies before the offset, and new ones may follow.
        SELECT
            o.is_full OR (i.end_value, i.end_id) IS DISTINCT FROM ((o.last).pos, (o.last).id)
        INTO p_is_more
        FROM omd.instance_state(p_module_instance_id) AS i
        INNER JOIN omd_lineage.topic AS t USING (module_id)
        INNER JOIN omd_lineage.offsets AS o ON t.topic_id = o.topic_id;
    END IF;
END
$end_run$;

COMMENT ON PROCEDURE omd_lineage.end_run IS
'For rooms: Releases the topic of the step p_module_instance_id, which has ended with '
'p_execution_status_code. p_is_more: its block was full, or was taken again. Locks: the offset '
'after a failure.';
GRANT EXECUTE ON PROCEDURE omd_lineage.end_run TO omd_runner;
