-- Moves the offset of a source forward. Locks: the offset; passed over while somebody else holds
-- it.

CREATE OR REPLACE FUNCTION omd_lineage.move_source(
    p_topic_id integer,
    p_position omd_lineage.row_position
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $move_source$
DECLARE
    v_topic text;
BEGIN
    -- The first look takes no lock: most often nothing is new.
    PERFORM FROM omd_lineage.offsets AS o
    WHERE o.topic_id = p_topic_id AND coalesce(p_position > o.last, TRUE);
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;
    UPDATE omd_lineage.offsets AS o SET
        last = p_position,
        run = clock_timestamp(),
        waiting_since = clock_timestamp(),
        processor = 'PROBE',
        state = ''
    WHERE o.topic_id = (
        SELECT held.topic_id FROM omd_lineage.offsets AS held
        WHERE held.topic_id = p_topic_id AND coalesce(p_position > held.last, TRUE)
        FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING o.topic INTO v_topic;
    IF v_topic IS NULL THEN
        RETURN FALSE;
    END IF;
    PERFORM omd_lineage.notify_topic(v_topic);
    RETURN TRUE;
END
$move_source$;

COMMENT ON FUNCTION omd_lineage.move_source IS
'Moves the offset of the source p_topic_id to p_position, never back; TRUE when it has moved. '
'Locks: the offset.';
REVOKE ALL ON FUNCTION omd_lineage.move_source FROM PUBLIC;
