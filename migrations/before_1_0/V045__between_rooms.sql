-- V045: how a lower room reaches upper ones: tables that these fill when they are installed.
-- Applied once.

CREATE TABLE omd.undo_listener (
    routine text NOT NULL,
    CONSTRAINT pk_undo_listener PRIMARY KEY (routine)
);
COMMENT ON TABLE omd.undo_listener IS
'Functions of rooms that know who reads a table. omd.tell_undo calls each when rows are undone '
'that others may have read. A room enters its own when it is installed.';
COMMENT ON COLUMN omd.undo_listener.routine IS
'A function (table schema.table, from which moment on, the oldest run that was undone) that '
'answers who reads the table: module_id, reader (its name), source_code (the table by which it is '
'read), is_whole (each run replaces all of its rows), has_positions (the windows of the reader '
'are positions in the table), way_out (the call that makes its rows again).';

CREATE TABLE omd.read_bound (
    schema_pattern text NOT NULL,
    routine text NOT NULL,
    CONSTRAINT pk_read_bound PRIMARY KEY (schema_pattern)
);
COMMENT ON TABLE omd.read_bound IS
'Schemas whose tables and views may be read up to a moment that a room knows, and not up to now. '
'A room enters its own when it is installed.';
COMMENT ON COLUMN omd.read_bound.schema_pattern IS 'The names of the schemas, as LIKE takes them.';
COMMENT ON COLUMN omd.read_bound.routine IS
'A function (relation schema.name, the column that is read by; NULL: not known) that answers up '
'to which moment all rows are there; NULL: it does not know the relation or the column.';

CREATE TABLE omd.undone_read (
    undone_read_id bigint GENERATED ALWAYS AS IDENTITY,
    undone_instance_id bigint NOT NULL,
    last_instance_id bigint NOT NULL,
    noted_at timestamptz NOT NULL,
    from_datetime timestamptz,
    module_id integer NOT NULL,
    is_whole boolean NOT NULL,
    has_positions boolean NOT NULL,
    table_code text NOT NULL,
    source_code text NOT NULL,
    reader text NOT NULL,
    way_out text NOT NULL,
    CONSTRAINT pk_undone_read PRIMARY KEY (undone_read_id),
    CONSTRAINT fk_undone_read_module FOREIGN KEY (module_id)
    REFERENCES omd.module (module_id) ON DELETE CASCADE
);
CREATE INDEX ix_undone_read_module ON omd.undone_read (module_id);
COMMENT ON TABLE omd.undone_read IS
'Who had read rows that were undone later. A row stays until the runs that read them are gone, or '
'replaced, and the next undo is told.';
COMMENT ON COLUMN omd.undone_read.undone_read_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.undone_read.undone_instance_id IS
'The oldest Module Instance that was undone. Runs before it have read nothing of it.';
COMMENT ON COLUMN omd.undone_read.last_instance_id IS
'The newest Module Instance when it was undone. Runs after it have read what is right.';
COMMENT ON COLUMN omd.undone_read.noted_at IS 'When it was undone.';
COMMENT ON COLUMN omd.undone_read.from_datetime IS
'From which position on rows were undone; NULL: all may have been.';
COMMENT ON COLUMN omd.undone_read.module_id IS 'The Module of the reader.';
COMMENT ON COLUMN omd.undone_read.is_whole IS 'Each run of the reader replaces all of its rows.';
COMMENT ON COLUMN omd.undone_read.has_positions IS
'The load windows of the reader are positions in the table.';
COMMENT ON COLUMN omd.undone_read.table_code IS 'The table whose rows were undone.';
COMMENT ON COLUMN omd.undone_read.source_code IS 'The table or view by which the reader reads it.';
COMMENT ON COLUMN omd.undone_read.reader IS 'The reader, by its name.';
COMMENT ON COLUMN omd.undone_read.way_out IS 'The call that makes the rows of the reader again.';
