-- Rows are only inserted into this table by those who write to sources, so no writer ever waits for
-- another one.

CREATE OR REPLACE FUNCTION omd_lineage._leave_note(
    p_topic_id integer,
    p_is_told boolean
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $leave_note$
BEGIN
    INSERT INTO omd_lineage.note (topic_id) VALUES (p_topic_id);
    PERFORM omd_lineage._notify_topic(t.topic)
    FROM omd_lineage.topic AS t
    WHERE t.topic_id = p_topic_id AND p_is_told;
END
$leave_note$;

COMMENT ON FUNCTION omd_lineage._leave_note IS
'Leaves a note that the source p_topic_id is to be probed, for the next poll or step; with '
'p_is_told schedulers are notified. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._leave_note TO omd_runner, omd_admin;
