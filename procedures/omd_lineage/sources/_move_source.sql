-- An offset of a source never goes back, since readers have taken the rows before it. The first
-- look takes no lock, because most often nothing is new.

CREATE OR REPLACE FUNCTION omd_lineage._move_source(
    p_topic_id integer,
    p_position omd_lineage.row_position,
    p_processor text DEFAULT 'PROBE',
    p_is_whole boolean DEFAULT FALSE
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $move_source$
DECLARE
    v_topic text;
BEGIN
    -- The newest version of the row comes first when it is read backwards, as omd.heartbeat says.
    PERFORM
    FROM (
        SELECT n.last, n.is_whole FROM omd_lineage.offsets AS n
        WHERE n.topic_id BETWEEN p_topic_id AND p_topic_id
        ORDER BY n.topic_id DESC
        LIMIT 1
    ) AS o
    WHERE coalesce(p_position > o.last, TRUE)
        OR (p_position = o.last AND p_is_whole AND NOT o.is_whole);
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;
    -- When several probes run at once, one is enough, and a trigger that does not get the offset
    -- leaves a note.
    PERFORM FROM omd_lineage.offsets AS o
    WHERE o.topic_id BETWEEN p_topic_id AND p_topic_id
    ORDER BY o.topic_id DESC
    LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;
    UPDATE omd_lineage.offsets AS o SET
        last = p_position,
        is_whole = p_is_whole,
        run = clock_timestamp(),
        waiting_since = clock_timestamp(),
        processor = p_processor,
        state = ''
    WHERE o.ctid = (
            SELECT n.ctid FROM omd_lineage.offsets AS n
            WHERE n.topic_id BETWEEN p_topic_id AND p_topic_id
            ORDER BY n.topic_id DESC
            LIMIT 1
        )
        AND (
            coalesce(p_position > o.last, TRUE)
            OR (p_position = o.last AND p_is_whole AND NOT o.is_whole)
        )
    RETURNING o.topic INTO v_topic;
    IF v_topic IS NULL THEN
        RETURN FALSE;
    END IF;
    PERFORM omd_lineage._notify_topic(v_topic);
    RETURN TRUE;
END
$move_source$;

COMMENT ON FUNCTION omd_lineage._move_source IS
'Moves the offset of the source p_topic_id forward to p_position, for p_processor (PROBE or '
'TRIGGER). p_is_whole: all rows of its instant are there, which is news too. Returns TRUE when it '
'has moved, and FALSE when it is there already or when another '
'session moves it. Locks: the offset, without waiting.';
GRANT EXECUTE ON FUNCTION omd_lineage._move_source TO omd_runner, omd_admin;
