-- V018: what a step with p_merge_key or p_recompute_key has replaced, so that an undo can put it
-- back. Applied once.

CREATE TABLE omd_lineage.replacement (
    module_instance_id bigint NOT NULL,
    module_id integer NOT NULL,
    is_purged boolean NOT NULL DEFAULT FALSE,
    table_code text NOT NULL,
    key_columns text[] NOT NULL,
    row_columns text[] NOT NULL,
    CONSTRAINT pk_replacement PRIMARY KEY (module_instance_id)
);
CREATE INDEX ix_replacement_module ON omd_lineage.replacement (module_id, module_instance_id);
COMMENT ON TABLE omd_lineage.replacement IS
'One row per step that replaces rows of its destination by key. Of steps whose replaced rows are '
'purged, the newest of each Module stays.';
COMMENT ON COLUMN omd_lineage.replacement.module_instance_id IS 'The Module Instance of the step.';
COMMENT ON COLUMN omd_lineage.replacement.module_id IS 'Its Module.';
COMMENT ON COLUMN omd_lineage.replacement.is_purged IS
'The rows that it replaced, and those of earlier steps, are not kept any more.';
COMMENT ON COLUMN omd_lineage.replacement.table_code IS 'The destination.';
COMMENT ON COLUMN omd_lineage.replacement.key_columns IS 'The key by which it replaced rows.';
COMMENT ON COLUMN omd_lineage.replacement.row_columns IS
'The columns of the destination whose values omd_lineage.replaced_row keeps, in their order.';

-- No foreign key: only routines of lineage write here.
CREATE TABLE omd_lineage.replaced_row (
    module_instance_id bigint NOT NULL,
    written_by bigint,
    content text NOT NULL
);
CREATE INDEX ix_replaced_row_instance ON omd_lineage.replaced_row (module_instance_id);
CREATE INDEX ix_replaced_row_writer ON omd_lineage.replaced_row (written_by);
COMMENT ON TABLE omd_lineage.replaced_row IS
'The rows of destinations that steps have replaced or deleted by key, as they were before. They '
'hold data of the destinations, so no role reads them.';
COMMENT ON COLUMN omd_lineage.replaced_row.module_instance_id IS
'The Module Instance that replaced the row.';
COMMENT ON COLUMN omd_lineage.replaced_row.written_by IS
'The Module Instance that had written the row; NULL: none.';
COMMENT ON COLUMN omd_lineage.replaced_row.content IS
'The row, as a literal of a row of the columns in omd_lineage.replacement.';
