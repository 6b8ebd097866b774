-- V119: process control: the server under the installation. Applied once.

-- An upgrade has added the columns before (prepare/server_columns.sql).
DO $do$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = 'omd.installation'::regclass AND a.attname = 'product_version'
    ) THEN
        ALTER TABLE omd.installation
        ADD COLUMN product_version text,
        ADD COLUMN timeline_id integer,
        ADD COLUMN server_start timestamptz,
        ADD COLUMN table_oid oid,
        ADD COLUMN on_failover text NOT NULL DEFAULT 'GO_ON',
        ADD CONSTRAINT ck_installation_on_failover CHECK (on_failover IN ('GO_ON', 'ASK'));
        ALTER TABLE omd.server_change
        ADD COLUMN timeline_id integer,
        ADD COLUMN ids_skipped bigint,
        ADD COLUMN is_asked boolean NOT NULL DEFAULT FALSE,
        DROP CONSTRAINT ck_server_change_kind,
        ADD CONSTRAINT ck_server_change_kind CHECK (kind IN ('FAILOVER', 'MOVED', 'COPIED'));
        ALTER TABLE omd.server_routine ADD COLUMN skip_routine text;
        ALTER TABLE omd.undone_run ALTER COLUMN transaction_id DROP NOT NULL;
    END IF;
END
$do$;
COMMENT ON COLUMN omd.installation.system_identifier IS 'The identifier of the server.';
COMMENT ON COLUMN omd.installation.product_version IS 'The version that was installed last.';
COMMENT ON COLUMN omd.installation.timeline_id IS 'The timeline of the server.';
COMMENT ON COLUMN omd.installation.server_start IS 'When the server was started.';
COMMENT ON COLUMN omd.installation.table_oid IS
'The OID of this table: after a dump was restored it has another one, on the same server too.';
COMMENT ON COLUMN omd.installation.on_failover IS
'GO_ON: after a failover all go on. ASK: workers wait until an administrator has confirmed it.';

COMMENT ON TABLE omd.server_change IS
'When the database was found on another server, timeline or OID, and what an administrator said '
'about it.';
COMMENT ON COLUMN omd.server_change.kind IS
'FAILOVER: the server has another timeline, or a dump was restored over this database. MOVED: the '
'server has another identifier. COPIED: the database has another OID.';
COMMENT ON COLUMN omd.server_change.timeline_id IS 'The timeline of the server then.';
COMMENT ON COLUMN omd.server_change.ids_skipped IS
'So many numbers of each sequence were passed over, so that no ID is given twice; NULL: none.';
COMMENT ON COLUMN omd.server_change.is_asked IS
'TRUE: workers wait for the confirmation of this FAILOVER too, as installation.on_failover said. '
'They always wait for that of MOVED and COPIED.';

COMMENT ON COLUMN omd.server_routine.skip_routine IS
'A function (bigint) that passes over so many of the numbers that the room counts in a table; '
'NULL: it counts none.';

CREATE TABLE omd.server_bound (
    schema_name text NOT NULL,
    table_name text NOT NULL,
    column_name text NOT NULL,
    on_change text NOT NULL,
    row_condition text,
    CONSTRAINT pk_server_bound PRIMARY KEY (schema_name, table_name, column_name),
    CONSTRAINT ck_server_bound_change CHECK (on_change IN ('CLEAR', 'KEEP'))
);
COMMENT ON TABLE omd.server_bound IS
'The columns that mean something on one server only: transactions, OIDs, processes. Each room '
'enters its own when it is installed.';
COMMENT ON COLUMN omd.server_bound.schema_name IS 'The room.';
COMMENT ON COLUMN omd.server_bound.table_name IS 'Its table.';
COMMENT ON COLUMN omd.server_bound.column_name IS 'The column.';
COMMENT ON COLUMN omd.server_bound.on_change IS
'CLEAR: the column becomes NULL when the server has changed. KEEP: what reads it knows better.';
COMMENT ON COLUMN omd.server_bound.row_condition IS
'SQL: only these rows are cleared; NULL: all that have a value.';

CREATE TABLE omd.sequence_bound (
    sequence_schema text NOT NULL,
    sequence_name text NOT NULL,
    table_schema text NOT NULL,
    table_name text NOT NULL,
    column_name text NOT NULL,
    row_condition text,
    CONSTRAINT pk_sequence_bound PRIMARY KEY (
        sequence_schema, sequence_name, table_schema, table_name, column_name
    )
);
COMMENT ON TABLE omd.sequence_bound IS
'Where the values of the sequences stand that no column owns. Each room enters its own when it is '
'installed.';
COMMENT ON COLUMN omd.sequence_bound.sequence_schema IS 'The schema of the sequence.';
COMMENT ON COLUMN omd.sequence_bound.sequence_name IS 'The sequence.';
COMMENT ON COLUMN omd.sequence_bound.table_schema IS 'The schema of the table.';
COMMENT ON COLUMN omd.sequence_bound.table_name IS
'A LIKE pattern of tables; without characters: its values are stored nowhere.';
COMMENT ON COLUMN omd.sequence_bound.column_name IS 'The column that holds its values.';
COMMENT ON COLUMN omd.sequence_bound.row_condition IS
'SQL: the highest value stands among these rows; NULL: among all.';

CREATE SEQUENCE omd.settled_server AS bigint MINVALUE -9223372036854775808;
COMMENT ON SEQUENCE omd.settled_server IS
'For which server the sequences were set last, as a hash. It survives a rollback, as they do.';

COMMENT ON COLUMN omd.undone_run.transaction_id IS
'The transaction that took its rows back; NULL: it ended on another server.';

DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY['omd.know_server()', 'omd._present_server()'] LOOP
        IF to_regprocedure(v_name) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE %s IS %L', v_name, 'Retired.');
        END IF;
    END LOOP;
END
$do$;
