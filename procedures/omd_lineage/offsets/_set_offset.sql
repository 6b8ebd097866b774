-- What set_offset does with the rights of the owner; it touches tables of lineage only.

CREATE OR REPLACE FUNCTION omd_lineage._set_offset(
    p_topic text,
    p_pos timestamptz,
    p_id bigint
)
RETURNS omd_lineage.row_position
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $set_offset$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
    v_last omd_lineage.row_position;
BEGIN
    p_pos := omd.require_argument('p_pos', p_pos);
    p_id := omd.require_argument('p_id', p_id);
    PERFORM FROM omd_lineage.base_table AS b
    WHERE b.topic_id = v_topic_id AND b.pos_column = '' AND p_pos <> '-infinity';
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_pos', 'value', p_pos::text,
                'expected', '-infinity, since the position is the id alone'
            )
        );
    END IF;
    v_last := omd_lineage._require_unplanned(v_topic_id);
    UPDATE omd_lineage.offsets AS o SET
        last = ROW(p_pos, p_id),
        is_whole = FALSE,
        quiet_start = NULL,
        is_full = FALSE,
        run = clock_timestamp(),
        waiting_since = clock_timestamp(),
        processor = 'HAND'
    WHERE o.topic_id = v_topic_id;
    PERFORM omd.write_event(
        0, 0, 4, 'OFFSET',
        format(
            '%s was set from %s to %s by %s', p_topic, coalesce(v_last::text, 'nothing'),
            ROW(p_pos, p_id), omd.editor()
        )
    );
    PERFORM omd_lineage._notify_topic(o.topic) FROM omd_lineage.offsets AS o
    WHERE o.topic_id = v_topic_id;
    RETURN v_last;
END
$set_offset$;

COMMENT ON FUNCTION omd_lineage._set_offset IS
'Does what set_offset does, but for the warning, and returns the former offset. The parameters and '
'the errors are those of set_offset. Locks: the offset.';
GRANT EXECUTE ON FUNCTION omd_lineage._set_offset TO omd_runner, omd_admin;
