-- Applications write to several sources in any order, so a writer must never wait for another one.
-- The first one moves the offset; those who write before its commit leave a note, and so does a
-- writer that sees old offsets only, because of its isolation level.

CREATE OR REPLACE FUNCTION omd_lineage.note_rows()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $note_rows$
DECLARE
    v_source record;
    v_position omd_lineage.row_position;
BEGIN
    SELECT t.topic_id, b.pos_column, b.id_column INTO v_source
    FROM omd_lineage.topic AS t
    INNER JOIN omd_lineage.base_table AS b USING (topic_id)
    WHERE t.topic_id = omd_lineage._require_topic(tg_argv[0])
        AND t.processor IS NULL;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM015', jsonb_build_object('topic', tg_argv[0]));
    END IF;
    EXECUTE format(
        'SELECT %1$s, %2$I FROM new_rows WHERE %1$s IS NOT NULL AND %2$I IS NOT NULL'
        ' ORDER BY %1$s <= $1 DESC, %1$s DESC, %2$I DESC LIMIT 1',
        omd_lineage._pos_expression(v_source.pos_column), v_source.id_column
    ) INTO v_position.pos, v_position.id USING clock_timestamp();
    IF v_position IS NULL THEN
        RETURN NULL;
    END IF;
    IF v_position.pos > clock_timestamp()
        OR current_setting('transaction_isolation') <> 'read committed'
        OR NOT omd_lineage._move_source(v_source.topic_id, v_position, 'TRIGGER')
    THEN
        PERFORM omd_lineage._leave_note(v_source.topic_id, TRUE);
    END IF;
    RETURN NULL;
END
$note_rows$;

COMMENT ON FUNCTION omd_lineage.note_rows IS
'Trigger for a source with TRIGGER: CREATE TRIGGER … AFTER INSERT ON stg.ticket REFERENCING NEW '
'TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION omd_lineage.note_rows(''stg.ticket''). It '
'moves the offset of the topic to the newest row that is not ahead of the clock; while another '
'writer does so, or with another isolation level than read committed, the next poll or step finds '
'the row. Who owns the table and has omd_runner or omd_admin creates the trigger; a role that '
'writes to the table needs omd_runner. Errors: OM005: the trigger has no argument; OM015: the '
'argument of the trigger is not a registered source. Locks: the offset, without waiting, until the '
'transaction ends.';
GRANT EXECUTE ON FUNCTION omd_lineage.note_rows TO omd_runner, omd_admin;
