-- V003: the ledger of writes, by which a partition that is written twice counts once. Applied once.
-- Source: the Spark data path, section 2.

CREATE SEQUENCE omd.write_number AS bigint;
COMMENT ON SEQUENCE omd.write_number IS
'Numbers of writes, for writers that are several at once and have no number of their own.';

CREATE TABLE omd.write_ledger (
    module_instance_id bigint NOT NULL,
    write_number bigint NOT NULL,
    row_count omd.row_count NOT NULL,
    write_datetime timestamptz NOT NULL,
    partition_number integer NOT NULL,
    table_code text NOT NULL,
    CONSTRAINT pk_write_ledger PRIMARY KEY (
        module_instance_id, write_number, partition_number, table_code
    )
);
COMMENT ON TABLE omd.write_ledger IS
'One row per partition of a write that was committed, inserted in the transaction of its rows. A '
'second attempt of the same partition finds it and discards its own. No foreign key: only omd '
'routines write here.';
COMMENT ON COLUMN omd.write_ledger.module_instance_id IS 'The run that wrote.';
COMMENT ON COLUMN omd.write_ledger.write_number IS
'Tells the writes of one run apart: the same for all partitions, and all attempts, of one write.';
COMMENT ON COLUMN omd.write_ledger.row_count IS 'Rows of the partition.';
COMMENT ON COLUMN omd.write_ledger.write_datetime IS 'When it was written, just before its commit.';
COMMENT ON COLUMN omd.write_ledger.partition_number IS
'The partition of the write; the same for all its attempts.';
COMMENT ON COLUMN omd.write_ledger.table_code IS 'The table written to, as its writer names it.';
