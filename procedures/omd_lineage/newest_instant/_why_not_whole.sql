-- It is asked after the looks at the newest row and at the writers: what began before that row, and
-- is not seen here, has committed before the next look at the rows. Once an instant is whole it
-- stays so, and is not asked for again.

CREATE OR REPLACE FUNCTION omd_lineage._why_not_whole(
    p_topic_id integer,
    p_table oid,
    p_pos_column text,
    p_id_column text,
    p_position omd_lineage.row_position
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $why_not_whole$
DECLARE
    v_offset record;
    v_why text;
BEGIN
    SELECT o.last, o.is_whole, o.waiting_since, t.take_ties INTO v_offset
    FROM omd_lineage._offset_of(p_topic_id) AS o
    INNER JOIN omd_lineage.topic AS t ON o.topic_id = t.topic_id;
    IF v_offset.last > p_position THEN
        RETURN 'its newest rows are gone';
    ELSIF v_offset.last = p_position
        AND (
            v_offset.is_whole
            OR clock_timestamp() - v_offset.waiting_since >= v_offset.take_ties
        )
    THEN
        RETURN NULL;
    ELSIF v_offset.take_ties <= interval '0' THEN
        RETURN NULL;
    END IF;
    v_why := omd_lineage._never_whole(p_table, p_pos_column, p_id_column);
    IF v_why IS NOT NULL THEN
        RETURN v_why;
    ELSIF p_position.pos >= clock_timestamp() THEN
        RETURN 'the clock has not passed them';
    END IF;
    RETURN (omd.transaction_before(p_position.pos)).p_who
        || ' may still bring rows that lie before them';
END
$why_not_whole$;

COMMENT ON FUNCTION omd_lineage._why_not_whole IS
'Returns why p_position, the newest row of the source p_topic_id with the table p_table, to which '
'nobody writes, is not known to be the last one of its instant; NULL: it is, or counts as such '
'after take_ties. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._why_not_whole TO omd_runner, omd_admin;
