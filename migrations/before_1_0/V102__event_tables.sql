-- V102: events: the tables of what was published, of what waits for it, and of the sinks. Applied
-- once.

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
    keep interval NOT NULL DEFAULT interval '30 days',
    event_number bigint NOT NULL DEFAULT 0,
    module_instance_id bigint NOT NULL DEFAULT 0,
    batch_instance_id bigint NOT NULL DEFAULT 0,
    published_datetime timestamptz,
    CONSTRAINT pk_setting PRIMARY KEY (is_only),
    CONSTRAINT ck_setting_only CHECK (is_only),
    CONSTRAINT ck_setting_job_namespace CHECK (job_namespace ~ '\S'),
    CONSTRAINT ck_setting_dataset_namespace CHECK (dataset_namespace ~ '\S'),
    CONSTRAINT ck_setting_web_url CHECK (web_url ~ '^https?://\S+$'),
    CONSTRAINT ck_setting_keep CHECK (keep > interval '0')
)
WITH (fillfactor = 10);
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
    outbox_id bigint GENERATED ALWAYS AS IDENTITY,
    event_type text NOT NULL,
    subject_type text NOT NULL,
    subject_id bigint NOT NULL,
    code text,
    started_datetime timestamptz,
    event_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    event_uuid uuid NOT NULL DEFAULT gen_random_uuid(),
    detail jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT pk_outbox PRIMARY KEY (outbox_id),
    CONSTRAINT fk_outbox_event_type FOREIGN KEY (event_type)
    REFERENCES omd_event.event_type (event_type)
)
WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500);
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
    CONSTRAINT pk_open_run PRIMARY KEY (subject_type, instance_id),
    CONSTRAINT ck_open_run_subject CHECK (subject_type IN ('MODULE', 'BATCH'))
)
WITH (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500
);
COMMENT ON TABLE omd_event.open_run IS
'Instances that the publisher has met and whose end it has not published.';
COMMENT ON COLUMN omd_event.open_run.subject_type IS 'MODULE or BATCH.';
COMMENT ON COLUMN omd_event.open_run.instance_id IS 'The instance.';
COMMENT ON COLUMN omd_event.open_run.has_begun IS 'Its begin was published.';

CREATE TABLE omd_event.gap (
    gap_id bigint GENERATED ALWAYS AS IDENTITY,
    subject_type text NOT NULL,
    first_id bigint NOT NULL,
    last_id bigint NOT NULL,
    bound xid8,
    CONSTRAINT pk_gap PRIMARY KEY (gap_id),
    CONSTRAINT ck_gap_subject CHECK (subject_type IN ('MODULE', 'BATCH')),
    CONSTRAINT ck_gap_order CHECK (first_id <= last_id)
)
WITH (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500
);
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
    inactive_indicator text NOT NULL DEFAULT 'N',
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
    CONSTRAINT pk_sink PRIMARY KEY (sink_code),
    CONSTRAINT ck_sink_code CHECK (sink_code ~ '\S'),
    CONSTRAINT ck_sink_kind CHECK (sink_kind IN ('OPENLINEAGE', 'WEBHOOK', 'COMMAND', 'PULL')),
    CONSTRAINT ck_sink_format CHECK (format IN ('CLOUDEVENT', 'TEXT')),
    CONSTRAINT ck_sink_timeout CHECK (timeout > interval '0'),
    CONSTRAINT ck_sink_inactive CHECK (inactive_indicator IN ('Y', 'N'))
)
WITH (fillfactor = 50);
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
    CONSTRAINT fk_refused_event_sink FOREIGN KEY (sink_code)
    REFERENCES omd_event.sink (sink_code) ON DELETE CASCADE
);
COMMENT ON TABLE omd_event.refused_event IS 'Events that a sink refused, and which it passed.';
COMMENT ON COLUMN omd_event.refused_event.sink_code IS 'The sink.';
COMMENT ON COLUMN omd_event.refused_event.event_number IS 'The event.';
COMMENT ON COLUMN omd_event.refused_event.status IS 'The status of HTTP, or the exit code.';
COMMENT ON COLUMN omd_event.refused_event.answer IS
'What the sink answered, at most 1,000 characters.';
COMMENT ON COLUMN omd_event.refused_event.refused_datetime IS 'When it refused the event.';

-- What has ended before the upgrade is history. What executes makes its events from now on. Runs
-- whose begin is not committed yet are among the newest ids that are not visible.
INSERT INTO omd_event.setting (module_instance_id, batch_instance_id)
SELECT
    (SELECT max(mi.module_instance_id) FROM omd.module_instance AS mi) AS module_instance_id,
    (SELECT max(bi.batch_instance_id) FROM omd.batch_instance AS bi) AS batch_instance_id;

INSERT INTO omd_event.open_run (subject_type, instance_id)
SELECT
    'MODULE' AS subject_type,
    mi.module_instance_id
FROM omd.module_instance AS mi
CROSS JOIN omd_event.setting AS s
WHERE
    mi.execution_status_code = 'E'
    AND mi.module_id IS NOT NULL
    AND mi.module_instance_id <= s.module_instance_id
UNION ALL
SELECT
    'BATCH' AS subject_type,
    bi.batch_instance_id
FROM omd.batch_instance AS bi
CROSS JOIN omd_event.setting AS s
WHERE
    bi.execution_status_code = 'E'
    AND bi.batch_id IS NOT NULL
    AND bi.batch_instance_id <= s.batch_instance_id;

INSERT INTO omd_event.gap (subject_type, first_id, last_id)
SELECT
    i.subject_type,
    i.former_id + 1 AS first_id,
    i.instance_id - 1 AS last_id
FROM (
    SELECT
        x.subject_type,
        x.instance_id,
        lag(x.instance_id, 1, greatest(x.mark - 100000, 0)) OVER (
            PARTITION BY x.subject_type ORDER BY x.instance_id
        ) AS former_id
    FROM (
        SELECT
            'MODULE' AS subject_type,
            mi.module_instance_id AS instance_id,
            s.module_instance_id AS mark
        FROM omd.module_instance AS mi
        CROSS JOIN omd_event.setting AS s
        UNION ALL
        SELECT
            'BATCH' AS subject_type,
            bi.batch_instance_id,
            s.batch_instance_id AS mark
        FROM omd.batch_instance AS bi
        CROSS JOIN omd_event.setting AS s
    ) AS x
    WHERE x.instance_id > greatest(x.mark - 100000, 0) AND x.instance_id <= x.mark
) AS i
WHERE i.former_id < i.instance_id - 1;
