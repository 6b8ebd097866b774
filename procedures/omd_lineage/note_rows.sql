-- Writers of one table wait for one another from their statement to their commit, since each moves
-- the same offset; in return a reader learns of a row at once. With PROBE writers do not wait, but
-- a row is noticed only at the next look.

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
        'SELECT n.%1$I, n.%2$I FROM new_rows AS n ORDER BY n.%1$I DESC, n.%2$I DESC LIMIT 1',
        v_source.pos_column, v_source.id_column
    ) INTO v_position.pos, v_position.id;
    IF v_position IS NOT NULL THEN
        PERFORM omd_lineage._move_source(v_source.topic_id, v_position, 'TRIGGER');
    END IF;
    RETURN NULL;
END
$note_rows$;

COMMENT ON FUNCTION omd_lineage.note_rows IS
'Trigger for a source with TRIGGER: CREATE TRIGGER … AFTER INSERT ON stg.ticket REFERENCING NEW '
'TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION omd_lineage.note_rows(''stg.ticket''). It '
'moves the offset of the topic to the newest row. A role that writes to the table needs '
'omd_runner. Errors: OM005: the trigger has no argument; OM015: the argument of the trigger is not'
' a registered source. Locks: the offset, until the transaction ends.';
REVOKE ALL ON FUNCTION omd_lineage.note_rows FROM PUBLIC;
