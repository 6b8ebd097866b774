-- The notes go only when the offset can be moved too: a writer that has locked it may roll back.
-- They are deleted before the look at the table, so a row that is committed later has its note.

CREATE OR REPLACE FUNCTION omd_lineage._take_notes(
    p_topic_id integer
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_notes$
BEGIN
    PERFORM FROM omd_lineage.note AS n WHERE n.topic_id = p_topic_id;
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;
    PERFORM FROM omd_lineage.offsets AS o
    WHERE o.topic_id = p_topic_id
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;
    DELETE FROM omd_lineage.note AS n WHERE n.topic_id = p_topic_id;
    RETURN FOUND;
END
$take_notes$;

COMMENT ON FUNCTION omd_lineage._take_notes IS
'Deletes the notes of the source p_topic_id and returns whether there were any, so that the caller'
' probes it. Nothing is done while another session moves the offset. Locks: the offset.';
GRANT EXECUTE ON FUNCTION omd_lineage._take_notes TO omd_runner, omd_admin;
