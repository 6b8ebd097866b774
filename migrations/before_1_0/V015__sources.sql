-- V015: what was last seen of each source. Applied once.

CREATE TABLE omd_lineage.source_probe (
    probed_at timestamptz NOT NULL,
    null_id_pos timestamptz,
    ahead_pos timestamptz,
    table_oid oid,
    null_rows integer NOT NULL,
    is_read boolean NOT NULL,
    probe_duration interval NOT NULL,
    source text NOT NULL,
    newest omd_lineage.row_position,
    problem text,
    CONSTRAINT pk_source_probe PRIMARY KEY (source)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE omd_lineage.source_probe IS
'What the last probe of each source has seen. A source is a topic without a processor, or a name '
'in depends_on that is no topic.';
COMMENT ON COLUMN omd_lineage.source_probe.probed_at IS 'When the last probe began.';
COMMENT ON COLUMN omd_lineage.source_probe.null_id_pos IS
'The pos of a row whose id is NULL; NULL: none was seen.';
COMMENT ON COLUMN omd_lineage.source_probe.ahead_pos IS
'The greatest pos, if it is ahead of the clock; NULL: it is not.';
COMMENT ON COLUMN omd_lineage.source_probe.table_oid IS
'The table that had the name; NULL: there was none.';
COMMENT ON COLUMN omd_lineage.source_probe.null_rows IS
'How many rows have a NULL pos; 1000 stands for that many or more.';
COMMENT ON COLUMN omd_lineage.source_probe.is_read IS 'FALSE when the last probe has failed.';
COMMENT ON COLUMN omd_lineage.source_probe.probe_duration IS 'How long the last probe took.';
COMMENT ON COLUMN omd_lineage.source_probe.source IS
'The name of the topic, or the name in depends_on.';
COMMENT ON COLUMN omd_lineage.source_probe.newest IS
'The position of the newest row that is not ahead of the clock, when the table could last be read; '
'NULL: it has none.';
COMMENT ON COLUMN omd_lineage.source_probe.problem IS
'What is wrong with the table, in sentences; NULL: nothing.';
