-- The tables of omd_lineage in 1.0, with which a new database begins. tools/baseline.py has
-- written them from the catalogue that the migrations of before_1_0 lead to. Applied once.

CREATE SCHEMA omd_lineage;
COMMENT ON SCHEMA omd_lineage IS 'Lineage: what feeds what, which block of the source is next.';

CREATE TYPE omd_lineage.row_position AS (
    pos timestamptz,
    id bigint
);
COMMENT ON TYPE omd_lineage.row_position IS
'A position in a base table: rows are in the order of pos, then of id.';

CREATE TABLE omd_lineage.topic (
    topic_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
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
    merge_key text[],
    recompute_key text[],
    max_age interval,
    CONSTRAINT ck_topic_module CHECK ((processor IS NULL) = (module_id IS NULL)),
    CONSTRAINT ck_topic_engine CHECK (engine IN ('POSTGRES', 'SPARK')),
    CONSTRAINT ck_topic_delay CHECK (delay >= '00:00:00'::interval),
    CONSTRAINT ck_topic_repeat CHECK (repeat >= '00:00:00'::interval),
    CONSTRAINT ck_topic_maxstep CHECK (maxstep > 0),
    CONSTRAINT ck_topic_max_wait CHECK (max_wait > '00:00:00'::interval),
    CONSTRAINT ck_topic_inactive CHECK (inactive_indicator IN ('Y', 'N')),
    CONSTRAINT pk_topic PRIMARY KEY (topic_id),
    CONSTRAINT uq_topic UNIQUE (topic),
    CONSTRAINT fk_topic_module FOREIGN KEY (module_id) REFERENCES omd.module (module_id),
    CONSTRAINT ck_topic_max_age CHECK (max_age > '00:00:00'::interval),
    CONSTRAINT ck_topic_reload_method CHECK (reload_method IN ('DELETE', 'TRUNCATE', 'SWAP')),
    CONSTRAINT ck_topic_source_offset CHECK (
        source_offset IN ('PROBE', 'CLOCK', 'TRIGGER', 'HAND', 'LAKE', 'FACTS', 'RUNS')
    )
);
CREATE INDEX ix_topic_table ON omd_lineage.topic (table_code);
CREATE UNIQUE INDEX uq_topic_module ON omd_lineage.topic (module_id) WHERE (module_id IS NOT NULL);
COMMENT ON TABLE omd_lineage.topic IS
'Every table that lineage knows: sources, and destinations with how they are made. A destination '
'is a Module; one table may have several topics, told apart by a tag or a shard.';
COMMENT ON COLUMN omd_lineage.topic.topic_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_lineage.topic.topic IS
'Name: schema.table[#tag][:shard], the table spelled as PostgreSQL prints it.';
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
'After this time without progress a step no longer waits for dependencies that lag; NULL: it '
'always waits.';
COMMENT ON COLUMN omd_lineage.topic.before_sql IS 'Statements before the transforms.';
COMMENT ON COLUMN omd_lineage.topic.after_sql IS 'Statements after the transforms.';
COMMENT ON COLUMN omd_lineage.topic.pos_column IS
'The time column of the base table (of a source: its own); NULL: as the base table has it, or '
'pos; empty: none, and the position is the id alone.';
COMMENT ON COLUMN omd_lineage.topic.id_column IS
'The id column of the base table (of a source: its own); NULL: as the base table has it, or id.';
COMMENT ON COLUMN omd_lineage.topic.source_offset IS
'Where the offset of a source comes from. PROBE: a look at its newest row. CLOCK: the time, where '
'the server stamps rows when they are written. TRIGGER: omd_lineage.note_rows. HAND: '
'omd_lineage.set_offset. LAKE: the commits of a lake table. FACTS: the changes of an interface. '
'RUNS: the runs of the Modules that write it.';
COMMENT ON COLUMN omd_lineage.topic.reload_method IS
'How RELOAD replaces the content: DELETE (and insert), TRUNCATE (and insert) where no foreign key '
'refers to the table, or SWAP (of tables) where nothing hangs on it.';
COMMENT ON COLUMN omd_lineage.topic.advance_when_quiet IS
'When there is nothing new the offset moves on, so that topics that depend on this one need not '
'wait.';
COMMENT ON COLUMN omd_lineage.topic.inactive_indicator IS 'Y: the topic is not run.';
COMMENT ON COLUMN omd_lineage.topic.comment IS 'What the topic is.';
COMMENT ON COLUMN omd_lineage.topic.updated_by IS 'Who registered it last.';
COMMENT ON COLUMN omd_lineage.topic.updated_at IS 'When it was registered last.';
COMMENT ON COLUMN omd_lineage.topic.merge_key IS
'Rows of a block replace rows of the destination that have the same values in these columns. '
'NULL: rows are inserted.';
COMMENT ON COLUMN omd_lineage.topic.recompute_key IS
'A block names values of these columns, and the rows of the destination that have them are '
'computed anew from the whole base table. NULL: rows are inserted.';
COMMENT ON COLUMN omd_lineage.topic.max_age IS
'How old the newest row of the source may be. NULL: nothing is promised.';

CREATE TABLE omd_lineage.topic_history (
    topic_history_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
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
COMMENT ON COLUMN omd_lineage.topic_history.changed_by IS 'The role that changed the definition.';
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
    source_kind_code text,
    CONSTRAINT uq_dependency UNIQUE NULLS NOT DISTINCT (topic_id, ordinal, source_topic_id),
    CONSTRAINT fk_dependency_topic FOREIGN KEY (topic_id) REFERENCES omd_lineage.topic (
        topic_id
    ) ON DELETE CASCADE,
    CONSTRAINT fk_dependency_source FOREIGN KEY (source_topic_id) REFERENCES omd_lineage.topic (
        topic_id
    ) ON DELETE SET NULL
);
CREATE INDEX ix_dependency_source ON omd_lineage.dependency (source_topic_id);
CREATE INDEX ix_dependency_table ON omd_lineage.dependency (table_code);
COMMENT ON TABLE omd_lineage.dependency IS
'The resolved depends_on of each topic: one row per topic that makes the table, or one row '
'without such a topic when there is none.';
COMMENT ON COLUMN omd_lineage.dependency.topic_id IS 'The topic that depends.';
COMMENT ON COLUMN omd_lineage.dependency.ordinal IS 'Place in depends_on; 1 is the base table.';
COMMENT ON COLUMN omd_lineage.dependency.source_topic_id IS 'A topic that makes it; NULL: none.';
COMMENT ON COLUMN omd_lineage.dependency.is_single IS
'It is the only row of its ordinal: nothing is to be aggregated.';
COMMENT ON COLUMN omd_lineage.dependency.depends_on IS 'The name, as registered.';
COMMENT ON COLUMN omd_lineage.dependency.table_code IS 'The table: the name without tag and shard.';
COMMENT ON COLUMN omd_lineage.dependency.source_kind_code IS
'FACTS, LAKE or RUNS: it is read by the positions that omd.source has of its table; NULL: by the '
'offset of the topic that makes it.';

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
    last_ts timestamptz GENERATED ALWAYS AS ((last).pos) STORED,
    is_full boolean NOT NULL DEFAULT FALSE,
    topic text NOT NULL,
    last omd_lineage.row_position,
    next omd_lineage.row_position,
    quiet_start omd_lineage.row_position,
    processor text,
    state text NOT NULL DEFAULT ''::text,
    hostid text NOT NULL DEFAULT ''::text,
    waited_for text,
    restatement_id bigint,
    undone_from timestamptz,
    CONSTRAINT ck_offsets_last CHECK (((last).pos IS NULL) = ((last).id IS NULL)),
    CONSTRAINT ck_offsets_next CHECK (((next).pos IS NULL) = ((next).id IS NULL)),
    CONSTRAINT ck_offsets_rows CHECK (rows >= 0),
    CONSTRAINT ck_offsets_attempts CHECK (attempts >= 0),
    CONSTRAINT pk_offsets PRIMARY KEY (topic_id),
    CONSTRAINT uq_offsets_topic UNIQUE (topic),
    CONSTRAINT fk_offsets_topic FOREIGN KEY (topic_id) REFERENCES omd_lineage.topic (
        topic_id
    ) ON DELETE CASCADE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE omd_lineage.offsets IS
'How far each topic has come, sources included, and which step holds it. Administrators may write '
'hostid ('''' frees the topic), last, next, attempts and state.';
COMMENT ON COLUMN omd_lineage.offsets.topic_id IS 'The topic.';
COMMENT ON COLUMN omd_lineage.offsets.attempts IS
'How many attempts at the planned block were made. After 10 the topic does not run until '
'omd_lineage.retry is called.';
COMMENT ON COLUMN omd_lineage.offsets.plan_number IS
'The fence. It grows with each claim, and a step can commit only under the number that it got.';
COMMENT ON COLUMN omd_lineage.offsets.rows IS 'Rows of the base table in the block planned last.';
COMMENT ON COLUMN omd_lineage.offsets.module_instance_id IS
'The Module Instance of the step that works on it; NULL: none.';
COMMENT ON COLUMN omd_lineage.offsets.block_max_id IS 'The greatest id in the block planned last.';
COMMENT ON COLUMN omd_lineage.offsets.block_min_ts IS
'The time of the first row in the block planned last.';
COMMENT ON COLUMN omd_lineage.offsets.run IS 'When the row was last written by a step.';
COMMENT ON COLUMN omd_lineage.offsets.waiting_since IS 'When the topic last moved on.';
COMMENT ON COLUMN omd_lineage.offsets.last_ts IS 'The pos in last, for indexes and reports.';
COMMENT ON COLUMN omd_lineage.offsets.is_full IS 'The last block held maxstep rows: more wait.';
COMMENT ON COLUMN omd_lineage.offsets.topic IS 'Name of the topic.';
COMMENT ON COLUMN omd_lineage.offsets.last IS
'The topic is complete up to here, inclusive; NULL: not known.';
COMMENT ON COLUMN omd_lineage.offsets.next IS 'End of the planned block; NULL: none is planned.';
COMMENT ON COLUMN omd_lineage.offsets.quiet_start IS
'Where the last block ended, when the offset has moved on since without one: the next block '
'starts here.';
COMMENT ON COLUMN omd_lineage.offsets.processor IS 'What moved the offset last.';
COMMENT ON COLUMN omd_lineage.offsets.state IS 'How the last step ended.';
COMMENT ON COLUMN omd_lineage.offsets.hostid IS
'The holder of the topic; empty when there is none.';
COMMENT ON COLUMN omd_lineage.offsets.waited_for IS
'The dependency that the planned block does not wait for, since max_wait is over.';
COMMENT ON COLUMN omd_lineage.offsets.restatement_id IS
'The row of omd_lineage.restatement that the step serves; NULL: it takes new rows.';
COMMENT ON COLUMN omd_lineage.offsets.undone_from IS
'From here on a block is undone and not loaded again yet, so nobody reads further; NULL: none.';

CREATE TABLE omd_lineage.seen_position (
    seen_at timestamptz NOT NULL,
    table_name text NOT NULL,
    position omd_lineage.row_position NOT NULL,
    CONSTRAINT pk_seen_position PRIMARY KEY (table_name, seen_at)
);
COMMENT ON TABLE omd_lineage.seen_position IS
'The newest row of each base table that was not ahead of the clock, as seen at a moment. A writer '
'that began later writes behind that row, so a plan may go up to it while the writer is at work.';
COMMENT ON COLUMN omd_lineage.seen_position.seen_at IS
'When it was seen: a moment just after the look.';
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
    nulls jsonb NOT NULL DEFAULT '{}'::jsonb,
    waited_for text,
    max_lag interval GENERATED ALWAYS AS (ts - min_ts) STORED,
    query_id text,
    reload_method text,
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
COMMENT ON COLUMN omd_lineage.log.query_id IS
'How the work of the step is named in other logs. In PostgreSQL: the process and the transaction, '
'as %p and %x of log_line_prefix. On Spark: the application and the tag of its jobs. NULL: not '
'known.';
COMMENT ON COLUMN omd_lineage.log.reload_method IS
'How a RELOAD replaced the content, and why not as registered; NULL: it was no RELOAD.';

CREATE TABLE omd_lineage.note (
    note_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    topic_id integer NOT NULL,
    CONSTRAINT pk_note PRIMARY KEY (topic_id, note_id),
    CONSTRAINT fk_note_topic FOREIGN KEY (topic_id) REFERENCES omd_lineage.topic (
        topic_id
    ) ON DELETE CASCADE
);
COMMENT ON TABLE omd_lineage.note IS
'Sources with TRIGGER that got rows while their offset was locked, or ahead of the clock. The '
'next probe looks at them, and deletes the note.';
COMMENT ON COLUMN omd_lineage.note.note_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_lineage.note.topic_id IS 'The source.';

CREATE TABLE omd_lineage.source_probe (
    probed_at timestamptz NOT NULL,
    null_id_pos timestamptz,
    ahead_pos timestamptz,
    table_oid oid,
    null_rows integer NOT NULL,
    is_read boolean NOT NULL,
    probe_duration interval NOT NULL,
    source text NOT NULL,
    newest omd_lineage.row_position,
    problem text,
    shown_problem text,
    CONSTRAINT pk_source_probe PRIMARY KEY (source)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON TABLE omd_lineage.source_probe IS
'What the last probe of each source has seen. A source is a topic without a processor, or a name '
'in depends_on that is no topic.';
COMMENT ON COLUMN omd_lineage.source_probe.probed_at IS 'When the last probe began.';
COMMENT ON COLUMN omd_lineage.source_probe.null_id_pos IS
'The pos of a row whose id is NULL; NULL: none was seen.';
COMMENT ON COLUMN omd_lineage.source_probe.ahead_pos IS
'The greatest pos, if it is ahead of the clock; NULL: it is not.';
COMMENT ON COLUMN omd_lineage.source_probe.table_oid IS
'The table that had the name; NULL: there was none.';
COMMENT ON COLUMN omd_lineage.source_probe.null_rows IS
'How many rows have a NULL pos; 1000 stands for that many or more.';
COMMENT ON COLUMN omd_lineage.source_probe.is_read IS 'FALSE when the last probe has failed.';
COMMENT ON COLUMN omd_lineage.source_probe.probe_duration IS 'How long the last probe took.';
COMMENT ON COLUMN omd_lineage.source_probe.source IS
'The name of the topic, or the name in depends_on.';
COMMENT ON COLUMN omd_lineage.source_probe.newest IS
'The position of the newest row that is not ahead of the clock, when the table could last be '
'read; NULL: it has none.';
COMMENT ON COLUMN omd_lineage.source_probe.problem IS
'What is wrong with the table, in sentences; NULL: nothing.';
COMMENT ON COLUMN omd_lineage.source_probe.shown_problem IS
'The problem as everybody may see it: the code of an error stands for its text; NULL: nothing is '
'wrong.';

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

CREATE TABLE omd_lineage.restatement (
    restatement_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
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
    CONSTRAINT fk_restatement_topic FOREIGN KEY (topic_id) REFERENCES omd_lineage.topic (
        topic_id
    ) ON DELETE CASCADE
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
