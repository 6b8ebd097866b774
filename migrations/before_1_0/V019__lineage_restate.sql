-- V019: blocks can be taken again, and a RELOAD may delete and insert. Applied once.

CREATE TABLE omd_lineage.restatement (
    restatement_id bigint GENERATED ALWAYS AS IDENTITY,
    call_id bigint NOT NULL,
    first_instance_id bigint,
    requested_at timestamptz NOT NULL,
    topic_id integer NOT NULL,
    requested_by text NOT NULL,
    start_position omd_lineage.row_position NOT NULL,
    end_position omd_lineage.row_position NOT NULL,
    block_start omd_lineage.row_position,
    block_end omd_lineage.row_position,
    former_array bigint[],
    resume_position omd_lineage.row_position,
    CONSTRAINT pk_restatement PRIMARY KEY (restatement_id),
    CONSTRAINT fk_restatement_topic FOREIGN KEY (topic_id)
    REFERENCES omd_lineage.topic (topic_id) ON DELETE CASCADE
);
CREATE INDEX ix_restatement_topic ON omd_lineage.restatement (topic_id);
COMMENT ON TABLE omd_lineage.restatement IS
'Ranges of topics that omd_lineage.restate has asked for and that are not done yet. A row goes '
'when its last block is taken again.';
COMMENT ON COLUMN omd_lineage.restatement.restatement_id IS 'Surrogate key, in order.';
COMMENT ON COLUMN omd_lineage.restatement.call_id IS
'The call of restate: the restatement_id of its first row. The other rows of it are downstream.';
COMMENT ON COLUMN omd_lineage.restatement.first_instance_id IS
'The first Module Instance that took a block again. Runs before it are former runs.';
COMMENT ON COLUMN omd_lineage.restatement.requested_at IS 'When.';
COMMENT ON COLUMN omd_lineage.restatement.topic_id IS 'The topic.';
COMMENT ON COLUMN omd_lineage.restatement.requested_by IS 'By whom.';
COMMENT ON COLUMN omd_lineage.restatement.start_position IS 'Start of the range, exclusive.';
COMMENT ON COLUMN omd_lineage.restatement.end_position IS 'End of the range, inclusive.';
COMMENT ON COLUMN omd_lineage.restatement.block_start IS
'Start of the block that is taken now, or that waits for its retry; NULL: none.';
COMMENT ON COLUMN omd_lineage.restatement.block_end IS 'End of that block.';
COMMENT ON COLUMN omd_lineage.restatement.former_array IS
'The Module Instances that read that block before and are undone first.';
COMMENT ON COLUMN omd_lineage.restatement.resume_position IS
'The offset has gone back, and the range is done when the offset is here again; NULL: the blocks '
'are taken one by one.';

COMMENT ON COLUMN omd_lineage.offsets.restatement_id IS
'The row of omd_lineage.restatement that the step serves; NULL: it takes new rows.';
COMMENT ON COLUMN omd_lineage.offsets.undone_from IS
'From here on a block is undone and not loaded again yet, so nobody reads further; NULL: none.';
COMMENT ON COLUMN omd_lineage.log.reload_method IS
'How a RELOAD replaced the content, and why not as registered; NULL: it was no RELOAD.';
COMMENT ON COLUMN omd_lineage.topic.reload_method IS
'How RELOAD replaces the content: DELETE (and insert), TRUNCATE (and insert) where no foreign key '
'refers to the table, or SWAP (of tables) where nothing hangs on it.';
