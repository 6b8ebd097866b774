-- V049: lake: the names of tables that have no row in the catalogue, as rows that a commit locks;
-- the rows that a rollback does not bring back. Applied once.

CREATE TABLE omd_lake.table_name (
    table_code text NOT NULL,
    CONSTRAINT pk_table_name PRIMARY KEY (table_code)
);
COMMENT ON TABLE omd_lake.table_name IS
'The tables outside of this catalogue (Delta, or of another catalogue) that were ever committed. A '
'commit locks their rows.';
COMMENT ON COLUMN omd_lake.table_name.table_code IS
'The table; each part is written as quote_ident writes it.';

CREATE TABLE omd_lake.withheld_rows (
    table_code text NOT NULL,
    module_instance_id bigint NOT NULL,
    snapshot_id bigint NOT NULL,
    row_count bigint NOT NULL,
    other_snapshot_id bigint,
    rollback_module_instance_id bigint NOT NULL,
    noted_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    settled_datetime timestamptz,
    CONSTRAINT pk_withheld_rows PRIMARY KEY (table_code, module_instance_id, snapshot_id),
    CONSTRAINT ck_withheld_rows_count CHECK (row_count >= 0)
);
COMMENT ON TABLE omd_lake.withheld_rows IS
'What a rollback did not bring back although the run that had removed it is undone.';
COMMENT ON COLUMN omd_lake.withheld_rows.table_code IS
'The table; each part is written as quote_ident writes it.';
COMMENT ON COLUMN omd_lake.withheld_rows.module_instance_id IS
'The run that had overwritten the table, and is undone.';
COMMENT ON COLUMN omd_lake.withheld_rows.snapshot_id IS
'The snapshot of Iceberg, or the version of Delta, in which it did.';
COMMENT ON COLUMN omd_lake.withheld_rows.row_count IS 'How many rows stay away.';
COMMENT ON COLUMN omd_lake.withheld_rows.other_snapshot_id IS
'The later snapshot or version, of no run, that left nothing of what was live; NULL: the files of '
'the rows are gone.';
COMMENT ON COLUMN omd_lake.withheld_rows.rollback_module_instance_id IS
'The run that took it back.';
COMMENT ON COLUMN omd_lake.withheld_rows.noted_datetime IS 'When it took it back.';
COMMENT ON COLUMN omd_lake.withheld_rows.settled_datetime IS
'When somebody settled it (omd_lake.settle_withheld); NULL: it is shown as a problem.';
