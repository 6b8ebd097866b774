-- V110: what runs have cost the server. Applied once.

CREATE TABLE omd_event.run_cost (
    subject_type text NOT NULL,
    instance_id bigint NOT NULL,
    wal_bytes bigint NOT NULL,
    wal_records bigint NOT NULL,
    blocks_read bigint NOT NULL,
    blocks_hit bigint NOT NULL,
    blocks_written bigint NOT NULL,
    CONSTRAINT pk_run_cost PRIMARY KEY (subject_type, instance_id),
    CONSTRAINT ck_run_cost_subject CHECK (subject_type IN ('MODULE', 'BATCH'))
);
COMMENT ON TABLE omd_event.run_cost IS
'What the session that performed a run has cost the server, from PostgreSQL 18 on. Parallel '
'workers and other processes of the server are not in it.';
COMMENT ON COLUMN omd_event.run_cost.subject_type IS 'MODULE or BATCH.';
COMMENT ON COLUMN omd_event.run_cost.instance_id IS
'The Module Instance or Batch Instance. Where one CALL performs several runs, the one that it '
'answers has the cost of all.';
COMMENT ON COLUMN omd_event.run_cost.wal_bytes IS 'Bytes of the write-ahead log.';
COMMENT ON COLUMN omd_event.run_cost.wal_records IS 'Records of the write-ahead log.';
COMMENT ON COLUMN omd_event.run_cost.blocks_read IS
'Blocks of tables and indexes that were not in the buffers.';
COMMENT ON COLUMN omd_event.run_cost.blocks_hit IS
'Blocks of tables and indexes that were in the buffers.';
COMMENT ON COLUMN omd_event.run_cost.blocks_written IS
'Blocks of tables and indexes that the session itself wrote or added.';
