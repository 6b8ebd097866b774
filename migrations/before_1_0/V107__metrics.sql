-- V107: events, metrics: the list of metrics, the counters that publish moves, and the problems
-- that the last look has found. Applied once.

CREATE TABLE omd_event.metric (
    metric_name text NOT NULL,
    metric_type text NOT NULL,
    help text NOT NULL,
    is_per_code boolean NOT NULL,
    label_names text[] NOT NULL DEFAULT '{}',
    alert jsonb,
    CONSTRAINT pk_metric PRIMARY KEY (metric_name),
    CONSTRAINT ck_metric_name CHECK (metric_name ~ '^omd_[a-z0-9]+(_[a-z0-9]+)*$'),
    CONSTRAINT ck_metric_type CHECK (metric_type IN ('counter', 'gauge', 'histogram')),
    CONSTRAINT ck_metric_total CHECK (
        (metric_type = 'counter') = (metric_name LIKE '%\_total')
    ),
    CONSTRAINT ck_metric_help CHECK (help ~ '\S'),
    CONSTRAINT ck_metric_alert CHECK (alert ?& '{name,condition,lasts,severity,summary}')
);
COMMENT ON TABLE omd_event.metric IS
'The list of metrics. What Prometheus reads, the rules, the files for sql_exporter and Grafana and '
'the reference are made from it.';
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
    CONSTRAINT pk_watch PRIMARY KEY (is_only),
    CONSTRAINT ck_watch_only CHECK (is_only)
);
COMMENT ON TABLE omd_event.watch IS
'One row: who looks for problems locks it, so that no two look at once, and no publisher waits.';
COMMENT ON COLUMN omd_event.watch.is_only IS 'TRUE: there is one row.';
COMMENT ON COLUMN omd_event.watch.watched_datetime IS
'When problems were looked for last; NULL: never.';
INSERT INTO omd_event.watch (is_only) VALUES (TRUE);

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
