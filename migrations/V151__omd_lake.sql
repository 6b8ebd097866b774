-- The tables of omd_lake in 1.0, with which a new database begins. tools/baseline.py has
-- written them from the catalogue that the migrations of before_1_0 lead to. Applied once.

CREATE SCHEMA omd_lake;
COMMENT ON SCHEMA omd_lake IS
'Lake: which files of a lake table a run wrote, and how they are removed again.';

CREATE TABLE omd_lake.iceberg_tables (
    catalog_name character varying(255) NOT NULL,
    table_namespace character varying(255) NOT NULL,
    table_name character varying(255) NOT NULL,
    metadata_location character varying(1000),
    previous_metadata_location character varying(1000),
    iceberg_type character varying(5),
    CONSTRAINT pk_iceberg_tables PRIMARY KEY (catalog_name, table_namespace, table_name)
);
COMMENT ON TABLE omd_lake.iceberg_tables IS
'The Iceberg tables of this catalogue. A commit exchanges metadata_location.';
COMMENT ON COLUMN omd_lake.iceberg_tables.catalog_name IS 'The catalogue: omd.';
COMMENT ON COLUMN omd_lake.iceberg_tables.table_namespace IS 'The namespace, without quotes.';
COMMENT ON COLUMN omd_lake.iceberg_tables.table_name IS 'The table, without quotes.';
COMMENT ON COLUMN omd_lake.iceberg_tables.metadata_location IS 'The metadata file that holds now.';
COMMENT ON COLUMN omd_lake.iceberg_tables.previous_metadata_location IS
'The metadata file that held before; NULL: none did.';
COMMENT ON COLUMN omd_lake.iceberg_tables.iceberg_type IS
'TABLE, or VIEW where another engine created a view; NULL reads TABLE.';

CREATE TABLE omd_lake.iceberg_namespace_properties (
    catalog_name character varying(255) NOT NULL,
    namespace character varying(255) NOT NULL,
    property_key character varying(255) NOT NULL,
    property_value character varying(1000),
    CONSTRAINT pk_iceberg_namespace_properties PRIMARY KEY (catalog_name, namespace, property_key)
);
COMMENT ON TABLE omd_lake.iceberg_namespace_properties IS
'The namespaces of this catalogue and their properties.';
COMMENT ON COLUMN omd_lake.iceberg_namespace_properties.catalog_name IS 'The catalogue: omd.';
COMMENT ON COLUMN omd_lake.iceberg_namespace_properties.namespace IS
'The namespace, without quotes.';
COMMENT ON COLUMN omd_lake.iceberg_namespace_properties.property_key IS
'location: where its tables lie. exists: by which other engines know a namespace.';
COMMENT ON COLUMN omd_lake.iceberg_namespace_properties.property_value IS 'The value.';

CREATE TABLE omd_lake.table_commit (
    commit_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    table_code text NOT NULL,
    table_format_code text NOT NULL,
    sequence_number bigint NOT NULL,
    snapshot_id bigint,
    commit_datetime timestamptz NOT NULL,
    module_instance_id bigint,
    operation text NOT NULL,
    added_files bigint NOT NULL,
    added_rows bigint NOT NULL,
    removed_files bigint NOT NULL,
    removed_rows bigint NOT NULL,
    total_files bigint,
    total_rows bigint,
    metadata_location text,
    CONSTRAINT ck_table_commit_format CHECK (table_format_code IN ('ICEBERG', 'DELTA')),
    CONSTRAINT ck_table_commit_operation CHECK (
        operation IN ('APPEND', 'OVERWRITE', 'HISTORY', 'UNDO', 'COMPACT', 'EXPIRE', 'SCHEMA')
    ),
    CONSTRAINT ck_table_commit_counts CHECK (
        least(
            sequence_number,
            added_files,
            added_rows,
            removed_files,
            removed_rows,
            total_files,
            total_rows
        )
        >= 0
    ),
    CONSTRAINT pk_table_commit PRIMARY KEY (commit_id)
);
CREATE INDEX ix_table_commit_position ON omd_lake.table_commit (
    table_code, commit_datetime, sequence_number
);
CREATE INDEX ix_table_commit_module_instance_id ON omd_lake.table_commit (
    module_instance_id
) WHERE (module_instance_id IS NOT NULL);
COMMENT ON TABLE omd_lake.table_commit IS 'The commits of lake tables that OMD made.';
COMMENT ON COLUMN omd_lake.table_commit.commit_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_lake.table_commit.table_code IS
'The table; each part is written as quote_ident writes it.';
COMMENT ON COLUMN omd_lake.table_commit.table_format_code IS 'ICEBERG or DELTA.';
COMMENT ON COLUMN omd_lake.table_commit.sequence_number IS
'The sequence number of Iceberg, or the version of Delta.';
COMMENT ON COLUMN omd_lake.table_commit.snapshot_id IS
'The snapshot of Iceberg that is current since; NULL: none (Delta, or a table without rows).';
COMMENT ON COLUMN omd_lake.table_commit.commit_datetime IS
'When it was committed; one time for all commits of a transaction.';
COMMENT ON COLUMN omd_lake.table_commit.module_instance_id IS
'The run that committed; NULL: no run did.';
COMMENT ON COLUMN omd_lake.table_commit.operation IS
'APPEND, OVERWRITE, HISTORY: a write. UNDO: a rollback. COMPACT, EXPIRE: maintenance. SCHEMA: '
'other columns, partitions or properties.';
COMMENT ON COLUMN omd_lake.table_commit.added_files IS 'How many data files came.';
COMMENT ON COLUMN omd_lake.table_commit.added_rows IS 'How many rows are in them.';
COMMENT ON COLUMN omd_lake.table_commit.removed_files IS 'How many data files went.';
COMMENT ON COLUMN omd_lake.table_commit.removed_rows IS 'How many rows were in them.';
COMMENT ON COLUMN omd_lake.table_commit.total_files IS
'How many data files were live after it; NULL: not told.';
COMMENT ON COLUMN omd_lake.table_commit.total_rows IS
'How many rows were live after it; NULL: not told.';
COMMENT ON COLUMN omd_lake.table_commit.metadata_location IS
'The metadata file of Iceberg; NULL for Delta.';

CREATE TABLE omd_lake.write_folder (
    module_instance_id bigint NOT NULL,
    write_number bigint NOT NULL,
    table_code text NOT NULL,
    folder text,
    announced_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    removed_datetime timestamptz,
    commit_id bigint,
    CONSTRAINT ck_write_folder_removed CHECK (removed_datetime IS NULL OR commit_id IS NULL),
    CONSTRAINT pk_write_folder PRIMARY KEY (module_instance_id, write_number, table_code),
    CONSTRAINT uq_write_folder_folder UNIQUE (folder),
    CONSTRAINT fk_write_folder_commit FOREIGN KEY (commit_id) REFERENCES omd_lake.table_commit (
        commit_id
    )
);
CREATE INDEX ix_write_folder_commit_id ON omd_lake.write_folder (commit_id) WHERE (
    commit_id IS NOT NULL
);
CREATE INDEX ix_write_folder_open ON omd_lake.write_folder (module_instance_id) WHERE (
    (commit_id IS NULL) AND (removed_datetime IS NULL)
);
CREATE INDEX ix_write_folder_table_code ON omd_lake.write_folder (table_code);
COMMENT ON TABLE omd_lake.write_folder IS
'The writes of runs into lake tables, known before their first file.';
COMMENT ON COLUMN omd_lake.write_folder.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd_lake.write_folder.write_number IS
'The number of the write, from omd.next_write_number.';
COMMENT ON COLUMN omd_lake.write_folder.table_code IS
'The table; each part is written as quote_ident writes it.';
COMMENT ON COLUMN omd_lake.write_folder.folder IS
'Where its files are; NULL: it was committed without having been announced.';
COMMENT ON COLUMN omd_lake.write_folder.announced_datetime IS 'When it was announced.';
COMMENT ON COLUMN omd_lake.write_folder.removed_datetime IS
'When its folder was removed, because it was never committed; NULL: it was not.';
COMMENT ON COLUMN omd_lake.write_folder.commit_id IS
'The commit that made its files part of the table; NULL: none has.';

CREATE TABLE omd_lake.table_name (
    table_code text NOT NULL,
    CONSTRAINT pk_table_name PRIMARY KEY (table_code)
);
COMMENT ON TABLE omd_lake.table_name IS
'The tables outside of this catalogue (Delta, or of another catalogue) that were ever committed. '
'A commit locks their rows.';
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
    CONSTRAINT ck_withheld_rows_count CHECK (row_count >= 0),
    CONSTRAINT pk_withheld_rows PRIMARY KEY (table_code, module_instance_id, snapshot_id)
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

CREATE TABLE omd_lake.closed_location (
    location text NOT NULL,
    closed_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_closed_location PRIMARY KEY (location)
);
COMMENT ON TABLE omd_lake.closed_location IS
'The locations of the namespaces when this database was confirmed as a copy: the other '
'installation writes there, so this one does not.';
COMMENT ON COLUMN omd_lake.closed_location.location IS 'The location.';
COMMENT ON COLUMN omd_lake.closed_location.closed_datetime IS 'When it was closed.';
