-- V004: lineage: topics, what they depend on, how far each has come, and what each step did.
-- Applied once. Source: SQL ETL scheduler, "Lineage and Topics" and "SCH.Offsets".

CREATE SCHEMA omd_lineage;
COMMENT ON SCHEMA omd_lineage IS 'Lineage: what feeds what, which block of the source is next.';

CREATE TYPE omd_lineage.row_position AS (
    ts timestamptz,
    id bigint
);
COMMENT ON TYPE omd_lineage.row_position IS
'A place in a base table: rows are in the order of their time, then of their id.';

CREATE TABLE omd_lineage.topic (
    topic_id integer GENERATED ALWAYS AS IDENTITY,
    topic text NOT NULL,
    table_code text NOT NULL,
    tag text,
    shard text,
    module_id integer,
    depends_on text[] NOT NULL,
    processor text,
    engine text NOT NULL,
    transforms text[] NOT NULL,
    delay interval NOT NULL,
    repeat interval NOT NULL,
    maxstep bigint NOT NULL,
    run_window text,
    max_wait interval,
    before_sql text[] NOT NULL,
    after_sql text[] NOT NULL,
    pos_column text,
    id_column text,
    source_offset text NOT NULL,
    reload_method text NOT NULL,
    advance_when_quiet boolean NOT NULL,
    inactive_indicator text NOT NULL,
    comment text,
    updated_by text NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT pk_topic PRIMARY KEY (topic_id),
    CONSTRAINT uq_topic UNIQUE (topic),
    CONSTRAINT fk_topic_module FOREIGN KEY (module_id) REFERENCES omd.module (module_id),
    CONSTRAINT ck_topic_module CHECK ((processor IS NULL) = (module_id IS NULL)),
    CONSTRAINT ck_topic_engine CHECK (engine IN ('POSTGRES', 'SPARK')),
    CONSTRAINT ck_topic_delay CHECK (delay >= interval '0'),
    CONSTRAINT ck_topic_repeat CHECK (repeat >= interval '0'),
    CONSTRAINT ck_topic_maxstep CHECK (maxstep > 0),
    CONSTRAINT ck_topic_max_wait CHECK (max_wait > interval '0'),
    CONSTRAINT ck_topic_source_offset CHECK (
        source_offset IN ('PROBE', 'CLOCK', 'TRIGGER', 'HAND')
    ),
    CONSTRAINT ck_topic_reload_method CHECK (reload_method IN ('TRUNCATE', 'SWAP')),
    CONSTRAINT ck_topic_inactive CHECK (inactive_indicator IN ('Y', 'N'))
);
CREATE INDEX ix_topic_table ON omd_lineage.topic (table_code);
CREATE UNIQUE INDEX uq_topic_module ON omd_lineage.topic (module_id) WHERE module_id IS NOT NULL;
COMMENT ON TABLE omd_lineage.topic IS
'Every table that lineage knows: sources, and destinations with how they are made. A destination '
'is a Module; one table may have several topics, told apart by a tag or a shard.';
COMMENT ON COLUMN omd_lineage.topic.topic_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_lineage.topic.topic IS 'Name: schema.table[#tag][:shard].';
COMMENT ON COLUMN omd_lineage.topic.table_code IS 'The table: the name without tag and shard.';
COMMENT ON COLUMN omd_lineage.topic.tag IS 'Which of several sources of the table.';
COMMENT ON COLUMN omd_lineage.topic.shard IS 'Which of several slices of the table.';
COMMENT ON COLUMN omd_lineage.topic.module_id IS 'The Module whose runs the steps are.';
COMMENT ON COLUMN omd_lineage.topic.depends_on IS
'Tables or topics that must have come far enough; the first is the base table, which is read by '
'blocks.';
COMMENT ON COLUMN omd_lineage.topic.processor IS
'STEP (block by block), RELOAD (all of it), or the name of a procedure schema.procedure that is '
'called with the topic instead. NULL: a source.';
COMMENT ON COLUMN omd_lineage.topic.engine IS 'Where the transforms run: POSTGRES or SPARK.';
COMMENT ON COLUMN omd_lineage.topic.transforms IS
'In order: views (POSTGRES); Spark SQL texts or module:function (SPARK).';
COMMENT ON COLUMN omd_lineage.topic.delay IS 'Rows younger than this wait.';
COMMENT ON COLUMN omd_lineage.topic.repeat IS 'Least time between two steps that are not full.';
COMMENT ON COLUMN omd_lineage.topic.maxstep IS 'Most rows of the base table in a block.';
COMMENT ON COLUMN omd_lineage.topic.run_window IS
'When the scheduler may run it: HH:MM-HH:MM zone; may wrap midnight. NULL: always.';
COMMENT ON COLUMN omd_lineage.topic.max_wait IS
'After so long without progress the topic runs with what is there. NULL: it waits for ever.';
COMMENT ON COLUMN omd_lineage.topic.before_sql IS 'Statements before the transforms.';
COMMENT ON COLUMN omd_lineage.topic.after_sql IS 'Statements after the transforms.';
COMMENT ON COLUMN omd_lineage.topic.pos_column IS
'The time column of the base table (of a source: its own); NULL: as the base table has it, or pos.';
COMMENT ON COLUMN omd_lineage.topic.id_column IS
'The id column of the base table (of a source: its own); NULL: as the base table has it, or id.';
COMMENT ON COLUMN omd_lineage.topic.source_offset IS
'Where the offset of a source comes from. PROBE: its newest row. CLOCK: the time, where the server '
'stamps rows when they are written. TRIGGER: omd_lineage.note_rows. HAND: omd_lineage.set_offset.';
COMMENT ON COLUMN omd_lineage.topic.reload_method IS
'How RELOAD replaces the content: TRUNCATE (and insert), or SWAP (of tables) where nothing hangs '
'on the table.';
COMMENT ON COLUMN omd_lineage.topic.advance_when_quiet IS
'With nothing new the offset moves on, so that those who depend on the topic need not wait.';
COMMENT ON COLUMN omd_lineage.topic.inactive_indicator IS 'Y: the topic is not run.';
COMMENT ON COLUMN omd_lineage.topic.comment IS 'What the topic is.';
COMMENT ON COLUMN omd_lineage.topic.updated_by IS 'Who registered it last.';
COMMENT ON COLUMN omd_lineage.topic.updated_at IS 'When it was registered last.';

CREATE TABLE omd_lineage.topic_history (
    topic_history_id bigint GENERATED ALWAYS AS IDENTITY,
    changed_at timestamptz NOT NULL,
    changed_by text NOT NULL,
    operation text NOT NULL,
    topic text NOT NULL,
    definition jsonb NOT NULL,
    CONSTRAINT pk_topic_history PRIMARY KEY (topic_history_id)
);
CREATE INDEX ix_topic_history_topic ON omd_lineage.topic_history (topic, topic_history_id);
COMMENT ON TABLE omd_lineage.topic_history IS 'Every definition that a topic has had.';
COMMENT ON COLUMN omd_lineage.topic_history.topic_history_id IS 'Surrogate key, in order.';
COMMENT ON COLUMN omd_lineage.topic_history.changed_at IS 'When.';
COMMENT ON COLUMN omd_lineage.topic_history.changed_by IS 'By whom.';
COMMENT ON COLUMN omd_lineage.topic_history.operation IS 'INSERT, UPDATE or DELETE.';
COMMENT ON COLUMN omd_lineage.topic_history.topic IS 'The topic.';
COMMENT ON COLUMN omd_lineage.topic_history.definition IS
'The row from then on; for a DELETE, as it was.';

CREATE TABLE omd_lineage.dependency (
    topic_id integer NOT NULL,
    ordinal integer NOT NULL,
    source_topic_id integer,
    is_single boolean NOT NULL,
    depends_on text NOT NULL,
    table_code text NOT NULL,
    CONSTRAINT uq_dependency UNIQUE NULLS NOT DISTINCT (topic_id, ordinal, source_topic_id),
    CONSTRAINT fk_dependency_topic FOREIGN KEY (topic_id)
    REFERENCES omd_lineage.topic (topic_id) ON DELETE CASCADE,
    CONSTRAINT fk_dependency_source FOREIGN KEY (source_topic_id)
    REFERENCES omd_lineage.topic (topic_id) ON DELETE SET NULL
);
CREATE INDEX ix_dependency_source ON omd_lineage.dependency (source_topic_id);
CREATE INDEX ix_dependency_table ON omd_lineage.dependency (table_code);
COMMENT ON TABLE omd_lineage.dependency IS
'depends_on of each topic, resolved: one row per topic that makes the table; one without when no '
'topic does.';
COMMENT ON COLUMN omd_lineage.dependency.topic_id IS 'Who depends.';
COMMENT ON COLUMN omd_lineage.dependency.ordinal IS 'Place in depends_on; 1 is the base table.';
COMMENT ON COLUMN omd_lineage.dependency.source_topic_id IS 'A topic that makes it; NULL: none.';
COMMENT ON COLUMN omd_lineage.dependency.is_single IS
'It is the only row of its ordinal: nothing is to be aggregated.';
COMMENT ON COLUMN omd_lineage.dependency.depends_on IS 'The name, as registered.';
COMMENT ON COLUMN omd_lineage.dependency.table_code IS 'The table: the name without tag and shard.';

CREATE TABLE omd_lineage.offsets (
    topic_id integer NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    plan_number bigint NOT NULL DEFAULT 0,
    rows bigint,
    module_instance_id bigint,
    block_max_id bigint,
    block_min_ts timestamptz,
    run timestamptz NOT NULL,
    waiting_since timestamptz NOT NULL,
    last_ts timestamptz GENERATED ALWAYS AS ((last).ts) STORED,
    is_full boolean NOT NULL DEFAULT FALSE,
    topic text NOT NULL,
    last omd_lineage.row_position,
    next omd_lineage.row_position,
    quiet_start omd_lineage.row_position,
    processor text,
    state text NOT NULL DEFAULT '',
    hostid text NOT NULL DEFAULT '',
    waited_for text,
    CONSTRAINT pk_offsets PRIMARY KEY (topic_id),
    CONSTRAINT uq_offsets_topic UNIQUE (topic),
    CONSTRAINT fk_offsets_topic FOREIGN KEY (topic_id)
    REFERENCES omd_lineage.topic (topic_id) ON DELETE CASCADE,
    CONSTRAINT ck_offsets_last CHECK (((last).ts IS NULL) = ((last).id IS NULL)),
    CONSTRAINT ck_offsets_next CHECK (((next).ts IS NULL) = ((next).id IS NULL)),
    CONSTRAINT ck_offsets_rows CHECK (rows >= 0),
    CONSTRAINT ck_offsets_attempts CHECK (attempts >= 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE omd_lineage.offsets IS
'How far each topic has come, sources included, and who works on it. Administrators may write '
'hostid ('''' frees the topic), last, next, attempts and state.';
COMMENT ON COLUMN omd_lineage.offsets.topic_id IS 'The topic.';
COMMENT ON COLUMN omd_lineage.offsets.attempts IS
'How often the planned block was tried; after 10 it waits for somebody to clear it.';
COMMENT ON COLUMN omd_lineage.offsets.plan_number IS
'The fence: grows with each claim; a step commits only under the number it was given.';
COMMENT ON COLUMN omd_lineage.offsets.rows IS 'Rows of the base table in the block planned last.';
COMMENT ON COLUMN omd_lineage.offsets.module_instance_id IS
'The Module Instance of the step that works on it; NULL: none.';
COMMENT ON COLUMN omd_lineage.offsets.block_max_id IS 'The greatest id in the block planned last.';
COMMENT ON COLUMN omd_lineage.offsets.block_min_ts IS
'The time of the first row in the block planned last.';
COMMENT ON COLUMN omd_lineage.offsets.run IS 'When the row was last written by a step.';
COMMENT ON COLUMN omd_lineage.offsets.waiting_since IS 'When the topic last moved on.';
COMMENT ON COLUMN omd_lineage.offsets.last_ts IS 'The time in last.';
COMMENT ON COLUMN omd_lineage.offsets.is_full IS 'The last block held maxstep rows: more wait.';
COMMENT ON COLUMN omd_lineage.offsets.topic IS 'Name of the topic.';
COMMENT ON COLUMN omd_lineage.offsets.last IS
'The topic is complete up to here, inclusive; NULL: not known.';
COMMENT ON COLUMN omd_lineage.offsets.next IS 'End of the planned block; NULL: none is planned.';
COMMENT ON COLUMN omd_lineage.offsets.quiet_start IS
'Where the last block ended, when the offset has moved on since without one: the next block starts '
'here.';
COMMENT ON COLUMN omd_lineage.offsets.processor IS 'What moved the offset last.';
COMMENT ON COLUMN omd_lineage.offsets.state IS 'What became of the last step.';
COMMENT ON COLUMN omd_lineage.offsets.hostid IS 'Who works on the topic; '''': nobody.';
COMMENT ON COLUMN omd_lineage.offsets.waited_for IS
'The dependency without which the planned block goes, since max_wait is over.';

CREATE TABLE omd_lineage.seen_position (
    seen_at timestamptz NOT NULL,
    table_name text NOT NULL,
    position omd_lineage.row_position NOT NULL,
    CONSTRAINT pk_seen_position PRIMARY KEY (table_name, seen_at)
);
COMMENT ON TABLE omd_lineage.seen_position IS
'The newest row of each base table, as seen at a moment. A writer who began later writes behind '
'it: so far a plan may go while he is at work.';
COMMENT ON COLUMN omd_lineage.seen_position.seen_at IS 'Just after it was seen.';
COMMENT ON COLUMN omd_lineage.seen_position.table_name IS
'The table, the columns of its positions, its OID.';
COMMENT ON COLUMN omd_lineage.seen_position.position IS 'The position of its newest row.';

CREATE TABLE omd_lineage.log (
    module_instance_id bigint NOT NULL,
    rows bigint NOT NULL,
    max_id bigint,
    ts timestamptz NOT NULL,
    min_ts timestamptz,
    max_ts timestamptz,
    topic_id integer NOT NULL,
    topic text NOT NULL,
    nulls jsonb NOT NULL DEFAULT '{}',
    waited_for text,
    max_lag interval GENERATED ALWAYS AS (ts - min_ts) STORED,
    CONSTRAINT pk_log PRIMARY KEY (module_instance_id)
);
CREATE INDEX ix_log_topic ON omd_lineage.log (topic_id, module_instance_id);
CREATE INDEX ix_log_ts ON omd_lineage.log USING brin (ts);
COMMENT ON TABLE omd_lineage.log IS 'One row per step that ended well.';
COMMENT ON COLUMN omd_lineage.log.module_instance_id IS
'The Module Instance of the step, on each row that it wrote.';
COMMENT ON COLUMN omd_lineage.log.rows IS 'Rows written to the destination.';
COMMENT ON COLUMN omd_lineage.log.max_id IS 'The greatest id in the block.';
COMMENT ON COLUMN omd_lineage.log.ts IS 'When the step ended.';
COMMENT ON COLUMN omd_lineage.log.min_ts IS 'The time of the first row of the block.';
COMMENT ON COLUMN omd_lineage.log.max_ts IS 'The time of the last row of the block.';
COMMENT ON COLUMN omd_lineage.log.topic_id IS 'The topic.';
COMMENT ON COLUMN omd_lineage.log.topic IS 'Name of the topic.';
COMMENT ON COLUMN omd_lineage.log.nulls IS
'For each column of the destination with NULLs among the rows written, how many.';
COMMENT ON COLUMN omd_lineage.log.waited_for IS
'The dependency without which the step went, since max_wait was over.';
COMMENT ON COLUMN omd_lineage.log.max_lag IS 'ts - min_ts: how long the oldest row had waited.';

-- which Modules load a base table
CREATE INDEX ix_module_table ON omd.module (table_code);
