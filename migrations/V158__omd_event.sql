-- The tables of omd_event in 1.0, with which a new database begins. tools/baseline.py has
-- written them from the catalogue that the migrations of before_1_0 lead to. Applied once.

CREATE SCHEMA omd_event;
COMMENT ON SCHEMA omd_event IS 'Events: what was committed, in one order, for programs outside.';

CREATE TABLE omd_event.event_type (
    event_type text NOT NULL,
    subject_type text NOT NULL,
    is_followed boolean NOT NULL,
    meaning text NOT NULL,
    CONSTRAINT pk_event_type PRIMARY KEY (event_type)
);
COMMENT ON TABLE omd_event.event_type IS 'The types of events.';
COMMENT ON COLUMN omd_event.event_type.event_type IS 'The type.';
COMMENT ON COLUMN omd_event.event_type.subject_type IS 'What its subject_id is an id of.';
COMMENT ON COLUMN omd_event.event_type.is_followed IS
'TRUE: a publisher reads it from the instances. FALSE: a trigger writes it to omd_event.outbox.';
COMMENT ON COLUMN omd_event.event_type.meaning IS 'What has happened.';

CREATE TABLE omd_event.setting (
    is_only boolean NOT NULL DEFAULT TRUE,
    job_namespace text,
    dataset_namespace text,
    web_url text,
    keep interval NOT NULL DEFAULT '30 days'::interval,
    event_number bigint NOT NULL DEFAULT 0,
    module_instance_id bigint NOT NULL DEFAULT 0,
    batch_instance_id bigint NOT NULL DEFAULT 0,
    published_datetime timestamptz,
    counted_number bigint NOT NULL DEFAULT 0,
    CONSTRAINT ck_setting_only CHECK (is_only),
    CONSTRAINT ck_setting_job_namespace CHECK (job_namespace ~ '\S'::text),
    CONSTRAINT ck_setting_dataset_namespace CHECK (dataset_namespace ~ '\S'::text),
    CONSTRAINT ck_setting_web_url CHECK (web_url ~ '^https?://\S+$'::text),
    CONSTRAINT ck_setting_keep CHECK (keep > '00:00:00'::interval),
    CONSTRAINT pk_setting PRIMARY KEY (is_only)
) WITH (fillfactor = 10);
COMMENT ON TABLE omd_event.setting IS
'What is configured, and how far the publisher has come: one row. A publisher holds it.';
COMMENT ON COLUMN omd_event.setting.is_only IS 'TRUE: there is one row.';
COMMENT ON COLUMN omd_event.setting.job_namespace IS
'The namespace of the jobs in OpenLineage; NULL: omd.<database>.';
COMMENT ON COLUMN omd_event.setting.dataset_namespace IS
'The namespace of the tables of this database in OpenLineage; NULL: postgres://localhost:<port>.';
COMMENT ON COLUMN omd_event.setting.web_url IS
'Where the page of OMD is found, for links; NULL: nowhere.';
COMMENT ON COLUMN omd_event.setting.keep IS 'How long events are kept.';
COMMENT ON COLUMN omd_event.setting.event_number IS 'The newest number given.';
COMMENT ON COLUMN omd_event.setting.module_instance_id IS
'The newest Module Instance met: those above it are new.';
COMMENT ON COLUMN omd_event.setting.batch_instance_id IS
'The newest Batch Instance met: those above it are new.';
COMMENT ON COLUMN omd_event.setting.published_datetime IS
'When a publisher last looked; NULL: none did. It is exact to ten seconds.';
COMMENT ON COLUMN omd_event.setting.counted_number IS
'All events up to this number are in omd_event.counter.';

INSERT INTO omd_event.setting DEFAULT VALUES;

CREATE TABLE omd_event.event (
    event_number bigint NOT NULL,
    event_type text NOT NULL,
    subject_type text NOT NULL,
    subject_id bigint NOT NULL,
    code text,
    started_datetime timestamptz,
    event_datetime timestamptz NOT NULL,
    published_datetime timestamptz NOT NULL,
    event_uuid uuid,
    detail jsonb NOT NULL,
    CONSTRAINT pk_event PRIMARY KEY (event_number)
);
COMMENT ON TABLE omd_event.event IS
'What was committed, in one order. Readers go by event_number alone.';
COMMENT ON COLUMN omd_event.event.event_number IS 'Its place in the order; given when published.';
COMMENT ON COLUMN omd_event.event.event_type IS 'What has happened (omd_event.event_type).';
COMMENT ON COLUMN omd_event.event.subject_type IS 'What subject_id is an id of.';
COMMENT ON COLUMN omd_event.event.subject_id IS 'To what it happened.';
COMMENT ON COLUMN omd_event.event.code IS 'The code of that, when the event was published.';
COMMENT ON COLUMN omd_event.event.started_datetime IS
'When the instance was created; NULL for what is no instance.';
COMMENT ON COLUMN omd_event.event.event_datetime IS 'When it happened.';
COMMENT ON COLUMN omd_event.event.published_datetime IS 'When it got its number.';
COMMENT ON COLUMN omd_event.event.event_uuid IS
'The identity of an event of the outbox; NULL: type, subject and start are the identity.';
COMMENT ON COLUMN omd_event.event.detail IS 'What else is known, scalars only.';

CREATE TABLE omd_event.outbox (
    outbox_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    event_type text NOT NULL,
    subject_type text NOT NULL,
    subject_id bigint NOT NULL,
    code text,
    started_datetime timestamptz,
    event_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    event_uuid uuid NOT NULL DEFAULT gen_random_uuid(),
    detail jsonb NOT NULL DEFAULT '{}'::jsonb,
    CONSTRAINT pk_outbox PRIMARY KEY (outbox_id),
    CONSTRAINT fk_outbox_event_type FOREIGN KEY (event_type) REFERENCES omd_event.event_type (
        event_type
    )
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE omd_event.outbox IS
'Events that wait for the publisher, which deletes them: triggers write them in the transaction '
'that changes the state.';
COMMENT ON COLUMN omd_event.outbox.outbox_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_event.outbox.event_type IS 'What has happened.';
COMMENT ON COLUMN omd_event.outbox.subject_type IS 'What subject_id is an id of.';
COMMENT ON COLUMN omd_event.outbox.subject_id IS 'To what it happened.';
COMMENT ON COLUMN omd_event.outbox.code IS 'The code of that.';
COMMENT ON COLUMN omd_event.outbox.started_datetime IS
'When the instance was created; NULL for what is no instance.';
COMMENT ON COLUMN omd_event.outbox.event_datetime IS 'When it happened.';
COMMENT ON COLUMN omd_event.outbox.event_uuid IS 'Its identity.';
COMMENT ON COLUMN omd_event.outbox.detail IS 'What else is known, scalars only.';

CREATE TABLE omd_event.open_run (
    subject_type text NOT NULL,
    instance_id bigint NOT NULL,
    has_begun boolean NOT NULL DEFAULT FALSE,
    CONSTRAINT ck_open_run_subject CHECK (subject_type IN ('MODULE', 'BATCH')),
    CONSTRAINT pk_open_run PRIMARY KEY (subject_type, instance_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE omd_event.open_run IS
'Instances that the publisher has met and whose end it has not published.';
COMMENT ON COLUMN omd_event.open_run.subject_type IS 'MODULE or BATCH.';
COMMENT ON COLUMN omd_event.open_run.instance_id IS 'The instance.';
COMMENT ON COLUMN omd_event.open_run.has_begun IS 'Its begin was published.';

CREATE TABLE omd_event.gap (
    gap_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    subject_type text NOT NULL,
    first_id bigint NOT NULL,
    last_id bigint NOT NULL,
    bound xid8,
    CONSTRAINT ck_gap_subject CHECK (subject_type IN ('MODULE', 'BATCH')),
    CONSTRAINT ck_gap_order CHECK (first_id <= last_id),
    CONSTRAINT pk_gap PRIMARY KEY (gap_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE omd_event.gap IS
'Ids below the newest instance met that were not visible: a transaction that has drawn one may '
'still commit.';
COMMENT ON COLUMN omd_event.gap.gap_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_event.gap.subject_type IS 'MODULE or BATCH.';
COMMENT ON COLUMN omd_event.gap.first_id IS 'The first id.';
COMMENT ON COLUMN omd_event.gap.last_id IS 'The last id.';
COMMENT ON COLUMN omd_event.gap.bound IS
'The transaction of the round after the one that noticed it: when all older ones have ended, '
'nobody commits an id of it any more. NULL: it was noticed in the last round.';

CREATE TABLE omd_event.sink (
    sink_code text NOT NULL,
    sink_kind text NOT NULL,
    event_types text[],
    codes text[],
    target text,
    format text,
    secret_name text,
    timeout interval,
    inactive_indicator text NOT NULL DEFAULT 'N'::text,
    event_number bigint NOT NULL,
    taken_upto bigint NOT NULL,
    holder text,
    lease interval,
    lease_expires_at timestamptz,
    problem text,
    problem_datetime timestamptz,
    not_before timestamptz,
    pause interval,
    sent bigint NOT NULL DEFAULT 0,
    refused bigint NOT NULL DEFAULT 0,
    purged_unsent bigint NOT NULL DEFAULT 0,
    CONSTRAINT ck_sink_code CHECK (sink_code ~ '\S'::text),
    CONSTRAINT ck_sink_kind CHECK (sink_kind IN ('OPENLINEAGE', 'WEBHOOK', 'COMMAND', 'PULL')),
    CONSTRAINT ck_sink_format CHECK (format IN ('CLOUDEVENT', 'TEXT')),
    CONSTRAINT ck_sink_timeout CHECK (timeout > '00:00:00'::interval),
    CONSTRAINT ck_sink_inactive CHECK (inactive_indicator IN ('Y', 'N')),
    CONSTRAINT pk_sink PRIMARY KEY (sink_code)
) WITH (fillfactor = 50);
COMMENT ON TABLE omd_event.sink IS 'Programs that events are sent to, and how far each has come.';
COMMENT ON COLUMN omd_event.sink.sink_code IS 'The name that callers use.';
COMMENT ON COLUMN omd_event.sink.sink_kind IS
'OPENLINEAGE, WEBHOOK, COMMAND, or PULL (a program of your own).';
COMMENT ON COLUMN omd_event.sink.event_types IS 'The types that it gets; NULL: all.';
COMMENT ON COLUMN omd_event.sink.codes IS 'LIKE patterns of the codes that it gets; NULL: all.';
COMMENT ON COLUMN omd_event.sink.target IS 'The address of a webhook, or the path of a program.';
COMMENT ON COLUMN omd_event.sink.format IS
'What a WEBHOOK or COMMAND gets: CLOUDEVENT (also where it is NULL) or TEXT.';
COMMENT ON COLUMN omd_event.sink.secret_name IS
'The environment variable of the sender that holds the secret for signatures; NULL: none.';
COMMENT ON COLUMN omd_event.sink.timeout IS
'How long one event may take to be sent; NULL: the sender decides.';
COMMENT ON COLUMN omd_event.sink.inactive_indicator IS 'Y: nothing is sent, and nothing waits.';
COMMENT ON COLUMN omd_event.sink.event_number IS 'All up to this number is settled.';
COMMENT ON COLUMN omd_event.sink.taken_upto IS
'The newest number that the holder was given: no other may be confirmed.';
COMMENT ON COLUMN omd_event.sink.holder IS 'The sender that holds it, or held it last.';
COMMENT ON COLUMN omd_event.sink.lease IS
'How long the holder asked for: each confirmation renews the lease by as much.';
COMMENT ON COLUMN omd_event.sink.lease_expires_at IS
'Until then no other sender gets its events; NULL: nobody holds it.';
COMMENT ON COLUMN omd_event.sink.problem IS 'Why it waits; NULL: it does not.';
COMMENT ON COLUMN omd_event.sink.problem_datetime IS 'Since when it waits; NULL: it does not.';
COMMENT ON COLUMN omd_event.sink.not_before IS 'Until then nothing is taken; NULL: it may be.';
COMMENT ON COLUMN omd_event.sink.pause IS
'The last pause, which the next problem doubles; NULL: there is no problem.';
COMMENT ON COLUMN omd_event.sink.sent IS 'How many events it has got.';
COMMENT ON COLUMN omd_event.sink.refused IS 'How many events it has refused.';
COMMENT ON COLUMN omd_event.sink.purged_unsent IS
'How many events were purged before it got them, since it was last registered or sent again.';

CREATE TABLE omd_event.refused_event (
    sink_code text NOT NULL,
    event_number bigint NOT NULL,
    status text,
    answer text,
    refused_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_refused_event PRIMARY KEY (sink_code, event_number),
    CONSTRAINT fk_refused_event_sink FOREIGN KEY (sink_code) REFERENCES omd_event.sink (
        sink_code
    ) ON DELETE CASCADE
);
COMMENT ON TABLE omd_event.refused_event IS 'Events that a sink refused, and which it passed.';
COMMENT ON COLUMN omd_event.refused_event.sink_code IS 'The sink.';
COMMENT ON COLUMN omd_event.refused_event.event_number IS 'The event.';
COMMENT ON COLUMN omd_event.refused_event.status IS 'The status of HTTP, or the exit code.';
COMMENT ON COLUMN omd_event.refused_event.answer IS
'What the sink answered, at most 1,000 characters.';
COMMENT ON COLUMN omd_event.refused_event.refused_datetime IS 'When it refused the event.';

CREATE TABLE omd_event.metric (
    metric_name text NOT NULL,
    metric_type text NOT NULL,
    help text NOT NULL,
    is_per_code boolean NOT NULL,
    label_names text[] NOT NULL DEFAULT '{}'::text[],
    alert jsonb,
    CONSTRAINT ck_metric_name CHECK (metric_name ~ '^omd_[a-z0-9]+(_[a-z0-9]+)*$'::text),
    CONSTRAINT ck_metric_type CHECK (metric_type IN ('counter', 'gauge', 'histogram')),
    CONSTRAINT ck_metric_total CHECK (
        (metric_type = 'counter'::text) = (metric_name ~~ '%\_total'::text)
    ),
    CONSTRAINT ck_metric_help CHECK (help ~ '\S'::text),
    CONSTRAINT ck_metric_alert CHECK (alert ?& '{name,condition,lasts,severity,summary}'::text[]),
    CONSTRAINT pk_metric PRIMARY KEY (metric_name)
);
COMMENT ON TABLE omd_event.metric IS
'The list of metrics. What Prometheus reads, the rules, the files for sql_exporter and Grafana '
'and the reference are made from it.';
COMMENT ON COLUMN omd_event.metric.metric_name IS 'Its name, as Prometheus knows it.';
COMMENT ON COLUMN omd_event.metric.metric_type IS 'counter, gauge or histogram.';
COMMENT ON COLUMN omd_event.metric.help IS 'What it counts or measures.';
COMMENT ON COLUMN omd_event.metric.is_per_code IS
'It has a series for each Module, Batch, topic, source, agreement, interface or schedule. omd '
'metrics --no-codes leaves it out.';
COMMENT ON COLUMN omd_event.metric.label_names IS 'Its labels; of a histogram without le.';
COMMENT ON COLUMN omd_event.metric.alert IS
'The alert that omd metrics rules makes of it: its name; its condition in PromQL; how long that '
'lasts first; its severity; its summary. NULL: none.';

CREATE TABLE omd_event.counter (
    metric_name text NOT NULL,
    label_key bytea NOT NULL,
    sample_name text NOT NULL,
    labels jsonb NOT NULL,
    value double precision NOT NULL,
    CONSTRAINT pk_counter PRIMARY KEY (metric_name, label_key)
) WITH (fillfactor = 50);
COMMENT ON TABLE omd_event.counter IS
'What publish has counted: the counters, the histogram of runs, and when each Module succeeded '
'last.';
COMMENT ON COLUMN omd_event.counter.metric_name IS 'The metric.';
COMMENT ON COLUMN omd_event.counter.label_key IS
'The SHA-256 of sample_name and labels: labels may be longer than an entry of an index.';
COMMENT ON COLUMN omd_event.counter.sample_name IS
'The name of the series: that of the metric, of a histogram with _bucket, _sum or _count.';
COMMENT ON COLUMN omd_event.counter.labels IS 'Its labels and their values.';
COMMENT ON COLUMN omd_event.counter.value IS 'How much was counted.';

CREATE TABLE omd_event.watch (
    is_only boolean NOT NULL DEFAULT TRUE,
    watched_datetime timestamptz,
    CONSTRAINT ck_watch_only CHECK (is_only),
    CONSTRAINT pk_watch PRIMARY KEY (is_only)
);
COMMENT ON TABLE omd_event.watch IS
'One row: who looks for problems locks it, so that no two look at once, and no publisher waits.';
COMMENT ON COLUMN omd_event.watch.is_only IS 'TRUE: there is one row.';
COMMENT ON COLUMN omd_event.watch.watched_datetime IS
'When problems were looked for last; NULL: never.';

INSERT INTO omd_event.watch DEFAULT VALUES;

CREATE TABLE omd_event.known_problem (
    problem_key bytea NOT NULL,
    problem_code text NOT NULL,
    object_kind text NOT NULL,
    object_key text NOT NULL,
    subject text NOT NULL,
    severity text NOT NULL,
    CONSTRAINT pk_known_problem PRIMARY KEY (problem_key)
);
COMMENT ON TABLE omd_event.known_problem IS 'The problems that the last look has found.';
COMMENT ON COLUMN omd_event.known_problem.problem_key IS
'The SHA-256 of problem_code, object_kind, object_key and subject.';
COMMENT ON COLUMN omd_event.known_problem.problem_code IS 'The problem.';
COMMENT ON COLUMN omd_event.known_problem.object_kind IS 'What object_key names.';
COMMENT ON COLUMN omd_event.known_problem.object_key IS 'Its id or code.';
COMMENT ON COLUMN omd_event.known_problem.subject IS 'What it is about, in words.';
COMMENT ON COLUMN omd_event.known_problem.severity IS 'ERROR or WARNING.';

CREATE TABLE omd_event.run_cost (
    subject_type text NOT NULL,
    instance_id bigint NOT NULL,
    wal_bytes bigint NOT NULL,
    wal_records bigint NOT NULL,
    blocks_read bigint NOT NULL,
    blocks_hit bigint NOT NULL,
    blocks_written bigint NOT NULL,
    CONSTRAINT ck_run_cost_subject CHECK (subject_type IN ('MODULE', 'BATCH')),
    CONSTRAINT pk_run_cost PRIMARY KEY (subject_type, instance_id)
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

CREATE TABLE omd_event.view_columns (
    view_code text NOT NULL,
    view_text text NOT NULL,
    fields jsonb NOT NULL,
    parsed_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    parsed_by text NOT NULL DEFAULT session_user,
    CONSTRAINT pk_view_columns PRIMARY KEY (view_code)
);
COMMENT ON TABLE omd_event.view_columns IS
'From which columns those of a transform view come, as a parser has found it.';
COMMENT ON COLUMN omd_event.view_columns.view_code IS 'The view, schema.name.';
COMMENT ON COLUMN omd_event.view_columns.view_text IS
'Its text when it was parsed: what was found counts for this text only.';
COMMENT ON COLUMN omd_event.view_columns.fields IS
'An object: of each column a list of objects with table, column and subtype (IDENTITY, '
'TRANSFORMATION or AGGREGATION).';
COMMENT ON COLUMN omd_event.view_columns.parsed_datetime IS 'When it was parsed.';
COMMENT ON COLUMN omd_event.view_columns.parsed_by IS 'Who had it parsed.';
