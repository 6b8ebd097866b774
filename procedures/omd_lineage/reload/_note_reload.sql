-- The log says how the content was replaced, since readers with older snapshots, foreign keys and
-- rights meet the difference. A message says it only when it is not what was registered.

CREATE OR REPLACE FUNCTION omd_lineage._note_reload(
    p_module_instance_id bigint,
    p_method text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_reload$
DECLARE
    v_topic text;
BEGIN
    UPDATE omd_lineage.log AS l SET reload_method = p_method
    WHERE l.module_instance_id = p_module_instance_id
    RETURNING l.topic INTO v_topic;
    IF p_method LIKE '%: %' THEN
        RAISE NOTICE USING MESSAGE = format('%s was replaced by %s', v_topic, p_method);
    END IF;
END
$note_reload$;

COMMENT ON FUNCTION omd_lineage._note_reload IS
'Writes p_method, how the RELOAD p_module_instance_id replaced the content, to the log. Locks: the '
'row of the log.';
GRANT EXECUTE ON FUNCTION omd_lineage._note_reload TO omd_runner;
