-- A block without anything that the topic reads needs no run. The offset passes it, so that nobody
-- looks at it again, and what is kept for readers may go.

CREATE OR REPLACE FUNCTION omd_lineage._pass_rows(
    p_topic_id integer,
    p_end_pos timestamptz,
    p_end_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $pass_rows$
DECLARE
    v_topic text;
BEGIN
    UPDATE omd_lineage.offsets AS o SET
        last = ROW(p_end_pos, p_end_id),
        is_whole = FALSE,
        quiet_start = NULL,
        waiting_since = clock_timestamp(),
        processor = 'QUIET'
    WHERE o.topic_id = p_topic_id
        AND o.hostid = ''
        AND o.next IS NULL
        AND o.last < ROW(p_end_pos, p_end_id)::omd_lineage.row_position
    RETURNING o.topic INTO v_topic;
    IF FOUND THEN
        PERFORM omd.note_passed(t.module_id, p_end_id)
        FROM omd_lineage.topic AS t
        WHERE t.topic_id = p_topic_id;
        PERFORM omd_lineage._notify_topic(v_topic);
    END IF;
END
$pass_rows$;

COMMENT ON FUNCTION omd_lineage._pass_rows IS
'Moves the offset of the topic p_topic_id, which nobody holds, to p_end_pos and p_end_id without a '
'run, since there is nothing for it up to there. Locks: the offset.';
GRANT EXECUTE ON FUNCTION omd_lineage._pass_rows TO omd_runner;
