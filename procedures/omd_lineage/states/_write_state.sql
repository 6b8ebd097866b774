-- An unchanged state is not written again, since a scheduler that polls would make the table grow.

CREATE OR REPLACE FUNCTION omd_lineage._write_state(
    p_topic_id integer,
    p_state text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $write_state$
BEGIN
    UPDATE omd_lineage.offsets AS o SET state = left(p_state, 1000), run = clock_timestamp()
    WHERE o.topic_id = p_topic_id
        AND (
            SELECT n.state FROM omd_lineage.offsets AS n
            WHERE n.topic_id BETWEEN p_topic_id AND p_topic_id
            ORDER BY n.topic_id DESC
            LIMIT 1
        ) <> left(p_state, 1000)
        AND o.state <> left(p_state, 1000);
END
$write_state$;

COMMENT ON FUNCTION omd_lineage._write_state IS
'Writes p_state as the state of the topic p_topic_id if it has changed. Locks: the offset.';
GRANT EXECUTE ON FUNCTION omd_lineage._write_state TO omd_runner, omd_admin;
