-- V068: who reads a source, so that what it shows is kept as long as it is read. Applied once.

CREATE TABLE omd.source_reader (
    module_id integer NOT NULL,
    table_code text NOT NULL,
    source_code text NOT NULL,
    CONSTRAINT pk_source_reader PRIMARY KEY (module_id, table_code),
    CONSTRAINT fk_source_reader_module FOREIGN KEY (module_id)
    REFERENCES omd.module (module_id) ON DELETE CASCADE,
    CONSTRAINT fk_source_reader_source FOREIGN KEY (source_code)
    REFERENCES omd.source (source_code) ON DELETE CASCADE
);
CREATE INDEX ix_source_reader_source ON omd.source_reader (source_code);
COMMENT ON TABLE omd.source_reader IS
'The Modules that read a source by its positions, and by which of its tables and views. A room '
'enters a Module when it is registered.';
COMMENT ON COLUMN omd.source_reader.module_id IS 'The Module.';
COMMENT ON COLUMN omd.source_reader.table_code IS 'The table or view that it reads, schema.name.';
COMMENT ON COLUMN omd.source_reader.source_code IS 'The source.';
