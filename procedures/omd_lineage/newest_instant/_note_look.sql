-- It is called after the looks at the newest row and at the writers: what began before that row,
-- and is not seen here, has committed before the next look at the rows. Once an instant is whole it
-- stays so, and is not asked for again. One statement reads the offset for all that follows, since
-- most looks change nothing.

CREATE OR REPLACE FUNCTION omd_lineage._note_look(
    p_topic_id integer,
    p_table oid,
    p_pos_column text,
    p_id_column text,
    p_position omd_lineage.row_position,
    p_newest_pos timestamptz,
    p_who text,
    OUT p_waits_for text,
    OUT p_is_whole boolean,
    OUT p_is_moved boolean
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $note_look$
DECLARE
    v_state CONSTANT text := coalesce(p_who || ' writes to it', '');
    v_offset record;
BEGIN
    p_is_whole := FALSE;
    p_is_moved := FALSE;
    -- The newest version of the row comes first when it is read backwards, as omd.heartbeat says.
    SELECT o.last, o.is_whole, o.waiting_since, o.state, t.take_ties INTO v_offset
    FROM omd_lineage.offsets AS o
    INNER JOIN omd_lineage.topic AS t ON o.topic_id = t.topic_id
    WHERE o.topic_id BETWEEN p_topic_id AND p_topic_id
    ORDER BY o.topic_id DESC
    LIMIT 1;
    IF v_offset.state <> left(v_state, 1000) THEN
        PERFORM omd_lineage._write_state(p_topic_id, v_state);
    END IF;
    IF p_pos_column <> '' AND p_newest_pos IS NOT NULL THEN
        IF p_who IS NOT NULL THEN
            p_waits_for := v_state;
        ELSIF v_offset.last > p_position THEN
            p_waits_for := 'its newest rows are gone';
        ELSIF (
            v_offset.last = p_position
            AND (
                v_offset.is_whole
                OR clock_timestamp() - v_offset.waiting_since >= v_offset.take_ties
            )
        ) OR v_offset.take_ties <= interval '0' THEN
            p_is_whole := TRUE;
        ELSE
            p_waits_for := omd_lineage._never_whole(p_table, p_pos_column, p_id_column);
            IF p_waits_for IS NULL AND p_position.pos >= clock_timestamp() THEN
                p_waits_for := 'the clock has not passed them';
            END IF;
            IF p_waits_for IS NULL THEN
                p_waits_for := (omd.transaction_before(p_position.pos)).p_who
                    || ' may still bring rows that lie before them';
            END IF;
            p_is_whole := p_waits_for IS NULL;
        END IF;
    END IF;
    IF p_position IS NOT NULL
        AND (
            coalesce(p_position > v_offset.last, TRUE)
            OR (p_position = v_offset.last AND p_is_whole AND NOT v_offset.is_whole)
        )
    THEN
        p_is_moved := omd_lineage._move_source(p_topic_id, p_position, 'PROBE', p_is_whole);
    END IF;
END
$note_look$;

COMMENT ON FUNCTION omd_lineage._note_look IS
'Writes down what a look at the source p_topic_id with the table p_table has found: p_position, up '
'to which all rows are visible, p_newest_pos, the time of the newest row, and p_who, who writes to '
'it. It moves the offset forward, and returns p_is_moved: it has moved; p_is_whole: all rows of '
'the newest instant are there, or count as such after take_ties; p_waits_for: why that is not '
'known. Locks: the offset, without waiting.';
GRANT EXECUTE ON FUNCTION omd_lineage._note_look TO omd_runner, omd_admin;
