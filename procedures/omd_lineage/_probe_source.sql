-- Looks how far a source has come. With the rights of the caller.

CREATE OR REPLACE FUNCTION omd_lineage._probe_source(
    p_topic_id integer,
    OUT ts timestamptz,
    OUT id bigint,
    OUT who text
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
    v_writer record;
    v_safe record;
    v_position omd_lineage.row_position;
    v_table_name text;
BEGIN
    SELECT b.table_code, b.pos_column, b.id_column, t.source_offset, o.state INTO v_source
    FROM omd_lineage.topic AS t
    INNER JOIN omd_lineage.base_table AS b USING (topic_id)
    INNER JOIN omd_lineage.offsets AS o USING (topic_id)
    WHERE t.topic_id = p_topic_id AND t.processor IS NULL;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_table_name := omd.quote_table(v_source.table_code, 'POSTGRES');

    IF v_source.source_offset = 'PROBE' THEN
        v_safe := omd_lineage._safe_position(
            v_source.table_code, v_source.pos_column, v_source.id_column, TRUE
        );
        ts := v_safe.ts;
        id := v_safe.id;
        who := v_safe.who;
        v_position := (v_safe.newest_ts, v_safe.newest_id);
        IF v_source.state <> coalesce(v_safe.who || ' writes to it', '') THEN
            PERFORM omd_lineage._write_state(
                p_topic_id, coalesce(v_safe.who || ' writes to it', '')
            );
        END IF;
    ELSIF v_source.source_offset = 'CLOCK' THEN
        -- Rows carry the time of their writing, so all that began before the oldest writer is here.
        v_writer := omd_lineage._oldest_writer(v_table_name::regclass);
        v_position := ROW(least(v_now, v_writer.since), 0::bigint);
    END IF;
    IF v_position IS NOT NULL THEN
        PERFORM omd_lineage._move_source(p_topic_id, v_position);
    END IF;
END
$probe_source$;

COMMENT ON FUNCTION omd_lineage._probe_source IS
'Looks how far the source p_topic_id has come, where it is one with PROBE (its newest row) or '
'CLOCK (now, or the start of its oldest writer), and moves its offset. Answers, with PROBE, the '
'position (ts, id) up to which all its rows are there, and who still writes behind it. Errors: '
'OM206. Locks: the offset.';
REVOKE ALL ON FUNCTION omd_lineage._probe_source FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._probe_source TO omd_runner, omd_admin;
