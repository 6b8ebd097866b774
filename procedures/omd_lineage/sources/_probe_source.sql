-- The function reads the source with the rights of the caller; routines with more rights write what
-- it finds. The offset moves no further than all rows are visible: what is true of a source stays
-- true, so others may rely on its offset whenever they read it. A step looks at nothing but the
-- position. Where no scheduler polls, steps alone keep the row of the source fresh.

CREATE OR REPLACE FUNCTION omd_lineage._probe_source(
    p_topic_id integer,
    p_is_step boolean DEFAULT TRUE,
    OUT p_pos timestamptz,
    OUT p_id bigint,
    OUT p_who text,
    OUT p_newest_pos timestamptz,
    OUT p_newest_id bigint,
    OUT p_is_moved boolean,
    OUT p_is_whole boolean,
    OUT p_waits_for text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $probe_source$
DECLARE
    v_source record;
    v_now timestamptz := clock_timestamp();
    v_safe record;
    v_noted record;
    v_position omd_lineage.row_position;
    v_table_name text;
BEGIN
    p_is_moved := FALSE;
    p_is_whole := FALSE;
    SELECT
        t.topic, b.table_code, b.pos_column, b.id_column, t.source_offset, p.probed_at
    INTO v_source
    FROM omd_lineage.topic AS t
    INNER JOIN omd_lineage.base_table AS b USING (topic_id)
    LEFT JOIN omd_lineage.source_probe AS p ON t.topic = p.source
    WHERE t.topic_id = p_topic_id AND t.processor IS NULL;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF p_is_step AND coalesce(v_source.probed_at < v_now - interval '1 minute', TRUE) THEN
        PERFORM omd_lineage._try_probe(
            v_source.topic, p_topic_id, v_source.table_code, v_source.pos_column,
            v_source.id_column, v_source.source_offset <> 'LAKE', 'STEP'
        );
    END IF;
    v_table_name := omd.quote_table(v_source.table_code, 'POSTGRES');

    IF v_source.source_offset = 'PROBE'
        OR (
            v_source.source_offset = 'TRIGGER'
            AND (
                omd_lineage._take_notes(p_topic_id)
                OR omd_lineage._may_become_whole(
                    p_topic_id, omd.target_relation(v_source.table_code), v_source.pos_column,
                    v_source.id_column
                )
            )
        )
    THEN
        v_safe := omd_lineage._safe_position(
            v_source.table_code, v_source.pos_column, v_source.id_column, TRUE
        );
        p_pos := v_safe.p_pos;
        p_id := v_safe.p_id;
        p_who := v_safe.p_who;
        p_newest_pos := v_safe.p_newest_pos;
        p_newest_id := v_safe.p_newest_id;
        -- A writer that inserts nothing more leaves no note when it ends.
        IF p_who IS NOT NULL AND v_source.source_offset = 'TRIGGER' THEN
            PERFORM omd_lineage._leave_note(p_topic_id, FALSE);
        END IF;
        v_noted := omd_lineage._note_look(
            p_topic_id, v_table_name::regclass, v_source.pos_column, v_source.id_column,
            ROW(p_pos, p_id), p_newest_pos, p_who
        );
        p_waits_for := v_noted.p_waits_for;
        p_is_whole := v_noted.p_is_whole;
        p_is_moved := v_noted.p_is_moved;
    ELSIF v_source.source_offset = 'CLOCK' THEN
        -- A row carries the time at which it was written, so every row from before the oldest
        -- writer, or run, began is visible. A reader takes what lies before the position.
        PERFORM v_table_name::regclass;
        v_position := ROW(
            (omd.visible_until(v_table_name)).p_until + interval '1 microsecond', 0::bigint
        );
    ELSIF v_source.source_offset = 'LAKE' THEN
        SELECT n.p_pos, n.p_id, n.p_pos, n.p_id INTO p_pos, p_id, p_newest_pos, p_newest_id
        FROM omd_lake.newest_position(v_source.table_code) AS n;
        v_position := (p_pos, p_id);
    END IF;
    IF v_position IS NOT NULL THEN
        p_is_moved := omd_lineage._move_source(p_topic_id, v_position);
    END IF;
END
$probe_source$;

COMMENT ON FUNCTION omd_lineage._probe_source IS
'Probes how far the source p_topic_id has come, if its source_offset is PROBE (up to where all '
'rows are visible), TRIGGER with a note (likewise), CLOCK (now, or the start of its oldest writer '
'or run) or LAKE (its newest commit), and moves its offset; p_is_moved says whether it has moved. '
'After a look at the table it returns (p_pos, p_id), the position up to which all rows are '
'visible, p_who, the transaction that still writes behind it, and (p_newest_pos, p_newest_id), '
'the newest row; p_is_whole, whether all rows of that instant are there, and p_waits_for, why '
'they may not be. p_is_step: a step asks, so that what is wrong with the source is looked for only '
'once a minute. Errors: OM206: the source can''t be read by blocks; OM212: it is locked. Locks: '
'the table, ACCESS SHARE, and the offset.';
GRANT EXECUTE ON FUNCTION omd_lineage._probe_source TO omd_runner, omd_admin;
