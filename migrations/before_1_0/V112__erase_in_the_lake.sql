-- V112: provenance: what an erasure has still to take out of lake tables. Applied once.

CREATE TABLE omd_provenance.pending_erasure (
    pending_id bigint GENERATED ALWAYS AS IDENTITY,
    erasure_id bigint,
    table_code text NOT NULL,
    columns jsonb NOT NULL,
    action text NOT NULL,
    keys jsonb NOT NULL,
    CONSTRAINT pk_pending_erasure PRIMARY KEY (pending_id),
    CONSTRAINT fk_pending_erasure_erasure FOREIGN KEY (erasure_id)
    REFERENCES omd_provenance.erasure (erasure_id),
    CONSTRAINT ck_pending_erasure_action CHECK (action IN ('DELETE', 'NULL'))
);
CREATE INDEX ix_pending_erasure_erasure ON omd_provenance.pending_erasure (erasure_id);
-- The statistics would outlive the keys.
ALTER TABLE omd_provenance.pending_erasure ALTER COLUMN keys SET STATISTICS 0;
COMMENT ON TABLE omd_provenance.pending_erasure IS
'The lake tables that an erasure has still to rewrite, with the keys until then. Nobody but the '
'routines of the erasure reads it.';
COMMENT ON COLUMN omd_provenance.pending_erasure.pending_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_provenance.pending_erasure.erasure_id IS
'The erasure; NULL only within its transaction.';
COMMENT ON COLUMN omd_provenance.pending_erasure.table_code IS 'The lake table.';
COMMENT ON COLUMN omd_provenance.pending_erasure.columns IS
'The columns that hold the key, {column: attribute}.';
COMMENT ON COLUMN omd_provenance.pending_erasure.action IS
'DELETE: the rows go. NULL: these columns become NULL.';
COMMENT ON COLUMN omd_provenance.pending_erasure.keys IS
'The keys, which go when the table is rewritten.';
