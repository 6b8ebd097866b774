-- V032: lake: the catalogue of the Iceberg tables, the commits of lake tables, and the folders that
-- runs write into. Applied once.

CREATE SCHEMA omd_lake;
COMMENT ON SCHEMA omd_lake IS
'Lake: which files of a lake table a run wrote, and how they are removed again.';

-- The catalogue. The columns are those of the JdbcCatalog of Iceberg, schema V1, so that every
-- engine that knows it reads and commits here; their comments say how OMD fills them.

CREATE TABLE omd_lake.iceberg_tables (
    catalog_name varchar(255) NOT NULL,
    table_namespace varchar(255) NOT NULL,
    table_name varchar(255) NOT NULL,
    metadata_location varchar(1000),
    previous_metadata_location varchar(1000),
    iceberg_type varchar(5),
    CONSTRAINT pk_iceberg_tables PRIMARY KEY (catalog_name, table_namespace, table_name)
);
COMMENT ON TABLE omd_lake.iceberg_tables IS
'The Iceberg tables of this catalogue. A commit exchanges metadata_location.';
COMMENT ON COLUMN omd_lake.iceberg_tables.catalog_name IS 'The catalogue: omd.';
COMMENT ON COLUMN omd_lake.iceberg_tables.table_namespace IS 'The namespace, without quotes.';
COMMENT ON COLUMN omd_lake.iceberg_tables.table_name IS 'The table, without quotes.';
COMMENT ON COLUMN omd_lake.iceberg_tables.metadata_location IS
'The metadata file that holds now.';
COMMENT ON COLUMN omd_lake.iceberg_tables.previous_metadata_location IS
'The metadata file that held before; NULL: none did.';
COMMENT ON COLUMN omd_lake.iceberg_tables.iceberg_type IS
'TABLE, or VIEW where another engine created a view; NULL reads TABLE.';

CREATE TABLE omd_lake.iceberg_namespace_properties (
    catalog_name varchar(255) NOT NULL,
    namespace varchar(255) NOT NULL,
    property_key varchar(255) NOT NULL,
    property_value varchar(1000),
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

-- What was committed. The position of a commit is (commit_datetime, sequence_number), and for one
-- table positions appear in their order.

CREATE TABLE omd_lake.table_commit (
    commit_id bigint GENERATED ALWAYS AS IDENTITY,
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
    CONSTRAINT pk_table_commit PRIMARY KEY (commit_id),
    CONSTRAINT ck_table_commit_format CHECK (table_format_code IN ('ICEBERG', 'DELTA')),
    CONSTRAINT ck_table_commit_operation CHECK (
        operation IN ('APPEND', 'OVERWRITE', 'HISTORY', 'UNDO', 'COMPACT', 'EXPIRE', 'SCHEMA')
    ),
    CONSTRAINT ck_table_commit_counts CHECK (
        least(
            sequence_number, added_files, added_rows, removed_files, removed_rows, total_files,
            total_rows
        ) >= 0
    )
);
CREATE INDEX ix_table_commit_position
ON omd_lake.table_commit (table_code, commit_datetime, sequence_number);
CREATE INDEX ix_table_commit_module_instance_id
ON omd_lake.table_commit (module_instance_id) WHERE module_instance_id IS NOT NULL;
COMMENT ON TABLE omd_lake.table_commit IS
'The commits of lake tables that OMD made.';
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
    CONSTRAINT pk_write_folder PRIMARY KEY (module_instance_id, write_number, table_code),
    CONSTRAINT uq_write_folder_folder UNIQUE (folder),
    CONSTRAINT fk_write_folder_commit FOREIGN KEY (commit_id)
    REFERENCES omd_lake.table_commit (commit_id),
    CONSTRAINT ck_write_folder_removed CHECK (removed_datetime IS NULL OR commit_id IS NULL)
);
CREATE INDEX ix_write_folder_commit_id
ON omd_lake.write_folder (commit_id) WHERE commit_id IS NOT NULL;
CREATE INDEX ix_write_folder_open
ON omd_lake.write_folder (module_instance_id)
WHERE commit_id IS NULL AND removed_datetime IS NULL;
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
