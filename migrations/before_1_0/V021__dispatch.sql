-- V021: dispatch: families and types of tasks, members that take them, suspensions, schedules, and
-- the old model. The tables of tasks are made by register_family and register_task_type. Applied
-- once. Source: middleware task scheduler, "MTS Database Component".

CREATE SCHEMA omd_dispatch;
COMMENT ON SCHEMA omd_dispatch IS
'Dispatch: what is due, which worker takes it, what is suspended.';

CREATE SEQUENCE omd_dispatch.task_id AS bigint MINVALUE 0 START 1;
COMMENT ON SEQUENCE omd_dispatch.task_id IS
'Numbers the tasks of all families. Workers share tasks by task_id modulo their number, so its '
'step is 1.';
CREATE SEQUENCE omd_dispatch.claim_token AS bigint;
COMMENT ON SEQUENCE omd_dispatch.claim_token IS
'Numbers the claims: a result counts only under the token of the claim.';
CREATE SEQUENCE omd_dispatch.due_again AS bigint;
COMMENT ON SEQUENCE omd_dispatch.due_again IS
'It grows when tasks may be due that a session would not find which begins where its last claim '
'ended.';

-- Configuration

CREATE TABLE omd_dispatch.task_conf_partition_scheme (
    scheme_code text NOT NULL,
    period interval NOT NULL,
    scheme_description text NOT NULL,
    CONSTRAINT pk_task_conf_partition_scheme PRIMARY KEY (scheme_code)
);
COMMENT ON TABLE omd_dispatch.task_conf_partition_scheme IS
'The partition schemes that exist; their logic is in omd_dispatch._partition_code.';
COMMENT ON COLUMN omd_dispatch.task_conf_partition_scheme.scheme_code IS 'The scheme.';
COMMENT ON COLUMN omd_dispatch.task_conf_partition_scheme.period IS
'For how long tasks are written to one slot of the ring.';
COMMENT ON COLUMN omd_dispatch.task_conf_partition_scheme.scheme_description IS 'What it does.';

CREATE TABLE omd_dispatch.task_conf_family_desc (
    family_code text NOT NULL,
    scheme_code text NOT NULL,
    partition_count integer NOT NULL,
    retention interval NOT NULL,
    CONSTRAINT pk_task_conf_family_desc PRIMARY KEY (family_code),
    CONSTRAINT fk_task_conf_family_desc_scheme FOREIGN KEY (scheme_code)
    REFERENCES omd_dispatch.task_conf_partition_scheme (scheme_code),
    CONSTRAINT ck_task_conf_family_desc_code CHECK (family_code ~ '^[A-Z][A-Z0-9_]{0,29}$'),
    CONSTRAINT ck_task_conf_family_desc_count CHECK (partition_count BETWEEN 3 AND 1000),
    CONSTRAINT ck_task_conf_family_desc_retention CHECK (retention > interval '0')
);
COMMENT ON TABLE omd_dispatch.task_conf_family_desc IS
'The families: each has a table of tasks with its criteria as columns.';
COMMENT ON COLUMN omd_dispatch.task_conf_family_desc.family_code IS 'The family.';
COMMENT ON COLUMN omd_dispatch.task_conf_family_desc.scheme_code IS
'The scheme by which its table is partitioned.';
COMMENT ON COLUMN omd_dispatch.task_conf_family_desc.partition_count IS
'How many slots the ring of its partitions has.';
COMMENT ON COLUMN omd_dispatch.task_conf_family_desc.retention IS
'How long tasks are kept at least, before their slot may be purged.';

CREATE TABLE omd_dispatch.task_conf_family_model (
    family_code text NOT NULL,
    criterion text NOT NULL,
    data_type text NOT NULL,
    is_key boolean NOT NULL,
    CONSTRAINT pk_task_conf_family_model PRIMARY KEY (family_code, criterion),
    CONSTRAINT fk_task_conf_family_model_family FOREIGN KEY (family_code)
    REFERENCES omd_dispatch.task_conf_family_desc (family_code),
    CONSTRAINT ck_task_conf_family_model_criterion CHECK (criterion ~ '^[A-Z][A-Z0-9_]{0,29}$'),
    CONSTRAINT ck_task_conf_family_model_type CHECK (
        data_type IN ('text', 'bigint', 'numeric', 'boolean', 'date', 'timestamptz', 'uuid')
    )
);
COMMENT ON TABLE omd_dispatch.task_conf_family_model IS
'The criteria of each family: the values that tell its tasks apart.';
COMMENT ON COLUMN omd_dispatch.task_conf_family_model.family_code IS 'The family.';
COMMENT ON COLUMN omd_dispatch.task_conf_family_model.criterion IS
'The criterion; the column is func_ with its name in lower case.';
COMMENT ON COLUMN omd_dispatch.task_conf_family_model.data_type IS 'Its type.';
COMMENT ON COLUMN omd_dispatch.task_conf_family_model.is_key IS
'It is part of the key: of the tasks of a type with the same key, one at most is live.';

CREATE TABLE omd_dispatch.task_conf_type_desc (
    family_code text NOT NULL,
    task_type text NOT NULL,
    handler text NOT NULL,
    target text,
    deliver_id text NOT NULL,
    timeout interval,
    max_attempts integer NOT NULL,
    backoff interval NOT NULL,
    backoff_limit interval NOT NULL,
    later_after interval NOT NULL,
    max_running integer,
    limit_criterion text,
    CONSTRAINT pk_task_conf_type_desc PRIMARY KEY (family_code, task_type),
    CONSTRAINT fk_task_conf_type_desc_family FOREIGN KEY (family_code)
    REFERENCES omd_dispatch.task_conf_family_desc (family_code),
    CONSTRAINT fk_task_conf_type_desc_limit FOREIGN KEY (family_code, limit_criterion)
    REFERENCES omd_dispatch.task_conf_family_model (family_code, criterion),
    CONSTRAINT ck_task_conf_type_desc_type CHECK (task_type ~ '^[A-Z][A-Z0-9_]{0,29}$'),
    CONSTRAINT ck_task_conf_type_desc_handler CHECK (
        handler IN ('BATCH', 'MODULE', 'SQL', 'PYTHON')
    ),
    CONSTRAINT ck_task_conf_type_desc_target CHECK (
        target IS NOT NULL OR handler IN ('BATCH', 'MODULE')
    ),
    CONSTRAINT ck_task_conf_type_desc_group CHECK (deliver_id ~ '^[A-Z][A-Z0-9_]{0,29}$'),
    CONSTRAINT ck_task_conf_type_desc_timeout CHECK (timeout > interval '0'),
    CONSTRAINT ck_task_conf_type_desc_attempts CHECK (max_attempts > 0),
    CONSTRAINT ck_task_conf_type_desc_backoff CHECK (
        backoff >= interval '0' AND backoff_limit >= backoff
    ),
    CONSTRAINT ck_task_conf_type_desc_later CHECK (later_after >= interval '0'),
    CONSTRAINT ck_task_conf_type_desc_running CHECK (max_running > 0),
    CONSTRAINT ck_task_conf_type_desc_limit CHECK (
        limit_criterion IS NULL OR max_running IS NOT NULL
    )
);
COMMENT ON TABLE omd_dispatch.task_conf_type_desc IS
'The types of tasks in each family, and how a worker handles them.';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.family_code IS 'The family.';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.task_type IS 'The type.';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.handler IS
'What the worker does: BATCH or MODULE (a run of the one that the criterion CODE names), SQL (it '
'calls a procedure) or PYTHON (it calls a function).';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.target IS
'SQL: the procedure. PYTHON, and a Spark job of BATCH or MODULE: module:function. NULL: BATCH or '
'MODULE in the database.';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.deliver_id IS
'The group of workers that take its tasks.';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.timeout IS
'After this time a worker ends the run. NULL: never.';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.max_attempts IS
'How often a task is tried before it is dead.';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.backoff IS
'How long a task waits after its first failure; after each further one twice as long.';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.backoff_limit IS
'How long a task waits after a failure at most.';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.later_after IS
'How long a task waits whose outcome was A: not now.';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.max_running IS
'How many of its tasks, or with limit_criterion of those with the same value, are claimed at once '
'at most. NULL: any number.';
COMMENT ON COLUMN omd_dispatch.task_conf_type_desc.limit_criterion IS
'The criterion whose values are limited apart. NULL: the type as a whole.';

CREATE TABLE omd_dispatch.task_conf_custom (
    family_code text NOT NULL,
    task_type text NOT NULL,
    criterion text NOT NULL,
    mode text NOT NULL,
    CONSTRAINT pk_task_conf_custom PRIMARY KEY (family_code, task_type, criterion),
    CONSTRAINT fk_task_conf_custom_type FOREIGN KEY (family_code, task_type)
    REFERENCES omd_dispatch.task_conf_type_desc (family_code, task_type),
    CONSTRAINT fk_task_conf_custom_criterion FOREIGN KEY (family_code, criterion)
    REFERENCES omd_dispatch.task_conf_family_model (family_code, criterion),
    CONSTRAINT ck_task_conf_custom_mode CHECK (mode IN ('D', 'O'))
);
COMMENT ON TABLE omd_dispatch.task_conf_custom IS
'Where a type of tasks differs from its family. A criterion without a row must be given.';
COMMENT ON COLUMN omd_dispatch.task_conf_custom.family_code IS 'The family.';
COMMENT ON COLUMN omd_dispatch.task_conf_custom.task_type IS 'The type.';
COMMENT ON COLUMN omd_dispatch.task_conf_custom.criterion IS 'The criterion.';
COMMENT ON COLUMN omd_dispatch.task_conf_custom.mode IS
'D: the criterion is forbidden for this type. O: it is optional.';

CREATE TABLE omd_dispatch.task_conf_dict (
    family_code text NOT NULL,
    task_type text NOT NULL,
    criterion text NOT NULL,
    external_name text NOT NULL,
    disabled boolean,
    CONSTRAINT pk_task_conf_dict PRIMARY KEY (family_code, task_type, criterion),
    CONSTRAINT uq_task_conf_dict_external_name UNIQUE (family_code, task_type, external_name),
    CONSTRAINT fk_task_conf_dict_type FOREIGN KEY (family_code, task_type)
    REFERENCES omd_dispatch.task_conf_type_desc (family_code, task_type),
    CONSTRAINT fk_task_conf_dict_criterion FOREIGN KEY (family_code, criterion)
    REFERENCES omd_dispatch.task_conf_family_model (family_code, criterion)
);
COMMENT ON TABLE omd_dispatch.task_conf_dict IS
'Further names of criteria, which callers may use when they create tasks of a type.';
COMMENT ON COLUMN omd_dispatch.task_conf_dict.family_code IS 'The family.';
COMMENT ON COLUMN omd_dispatch.task_conf_dict.task_type IS 'The type.';
COMMENT ON COLUMN omd_dispatch.task_conf_dict.criterion IS 'The criterion.';
COMMENT ON COLUMN omd_dispatch.task_conf_dict.external_name IS 'Its other name.';
COMMENT ON COLUMN omd_dispatch.task_conf_dict.disabled IS
'Of the source; it is not read. omd_dispatch.task_conf_custom replaces it.';

CREATE TABLE omd_dispatch.task_conf_search_allowed (
    family_code text NOT NULL,
    index_name text NOT NULL,
    criterion text NOT NULL,
    CONSTRAINT pk_task_conf_search_allowed PRIMARY KEY (family_code, index_name, criterion),
    CONSTRAINT fk_task_conf_search_allowed_criterion FOREIGN KEY (family_code, criterion)
    REFERENCES omd_dispatch.task_conf_family_model (family_code, criterion)
);
COMMENT ON TABLE omd_dispatch.task_conf_search_allowed IS
'The searches that are allowed: one must give all criteria of at least one index.';
COMMENT ON COLUMN omd_dispatch.task_conf_search_allowed.family_code IS 'The family.';
COMMENT ON COLUMN omd_dispatch.task_conf_search_allowed.index_name IS
'The index of the table of tasks that serves the search.';
COMMENT ON COLUMN omd_dispatch.task_conf_search_allowed.criterion IS
'A criterion that the index needs.';

CREATE TABLE omd_dispatch.task_migration_status (
    family_code text NOT NULL,
    migration_status integer NOT NULL,
    CONSTRAINT pk_task_migration_status PRIMARY KEY (family_code),
    CONSTRAINT fk_task_migration_status_family FOREIGN KEY (family_code)
    REFERENCES omd_dispatch.task_conf_family_desc (family_code),
    CONSTRAINT ck_task_migration_status CHECK (migration_status BETWEEN 0 AND 4)
);
COMMENT ON TABLE omd_dispatch.task_migration_status IS
'Which model holds the tasks of a family; one without a row has status 0.';
COMMENT ON COLUMN omd_dispatch.task_migration_status.family_code IS 'The family.';
COMMENT ON COLUMN omd_dispatch.task_migration_status.migration_status IS
'0: the old model alone. 1: the old one is master, the new one is kept in step. 2: as 1, and '
'differences are reported. 3: the new one is master, the old one is kept in step. 4: the new one '
'alone.';

CREATE TABLE omd_dispatch.cache_version (
    part text NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT pk_cache_version PRIMARY KEY (part)
);
COMMENT ON TABLE omd_dispatch.cache_version IS
'The version of each table of the configuration. A worker keeps what it has read, and reads a '
'table again when its version differs.';
COMMENT ON COLUMN omd_dispatch.cache_version.part IS 'The table.';
COMMENT ON COLUMN omd_dispatch.cache_version.version IS 'It grows with each change.';

-- Members and keys

CREATE TABLE omd_dispatch.backend_registration (
    backend_type text NOT NULL,
    backend_id text NOT NULL,
    registration_time timestamptz NOT NULL,
    ttl interval NOT NULL,
    CONSTRAINT pk_backend_registration PRIMARY KEY (backend_id),
    CONSTRAINT ck_backend_registration_ttl CHECK (ttl > interval '0')
);
CREATE INDEX ix_backend_registration_type
ON omd_dispatch.backend_registration (backend_type, backend_id COLLATE "C");
COMMENT ON TABLE omd_dispatch.backend_registration IS
'The workers. One is alive until its registration_time is older than its ttl; who deletes its row '
'declares it dead.';
COMMENT ON COLUMN omd_dispatch.backend_registration.backend_type IS
'The group of workers that it belongs to.';
COMMENT ON COLUMN omd_dispatch.backend_registration.backend_id IS 'The worker.';
COMMENT ON COLUMN omd_dispatch.backend_registration.registration_time IS
'When it registered, or renewed its registration, last.';
COMMENT ON COLUMN omd_dispatch.backend_registration.ttl IS
'How long it lives without a renewal.';

CREATE TABLE omd_dispatch.mutex (
    key_hash bytea NOT NULL,
    family_code text NOT NULL,
    task_type text NOT NULL,
    key_text text NOT NULL,
    task_id bigint NOT NULL,
    CONSTRAINT pk_mutex PRIMARY KEY (key_hash),
    CONSTRAINT uq_mutex_task_id UNIQUE (task_id)
);
COMMENT ON TABLE omd_dispatch.mutex IS
'The keys of live tasks. It makes them unique over all partitions and both models.';
COMMENT ON COLUMN omd_dispatch.mutex.key_hash IS
'The SHA-256 of key_text: an index entry has less room than a key may need.';
COMMENT ON COLUMN omd_dispatch.mutex.family_code IS 'The family.';
COMMENT ON COLUMN omd_dispatch.mutex.task_type IS 'The type.';
COMMENT ON COLUMN omd_dispatch.mutex.key_text IS
'Family, type and the values of the key criteria, as a JSON array.';
COMMENT ON COLUMN omd_dispatch.mutex.task_id IS 'The live task that has the key.';

-- Suspensions

CREATE TABLE omd_dispatch.task_suspension (
    suspension_id bigint GENERATED ALWAYS AS IDENTITY,
    family_code text NOT NULL,
    reason text,
    suspended_at timestamptz NOT NULL,
    suspended_by text NOT NULL,
    is_marked boolean NOT NULL,
    resumed_at timestamptz,
    CONSTRAINT pk_task_suspension PRIMARY KEY (suspension_id),
    CONSTRAINT fk_task_suspension_family FOREIGN KEY (family_code)
    REFERENCES omd_dispatch.task_conf_family_desc (family_code)
);
CREATE INDEX ix_task_suspension_family ON omd_dispatch.task_suspension (family_code);
COMMENT ON TABLE omd_dispatch.task_suspension IS
'The suspensions that hold, and those that were resumed and still have to let tasks go.';
COMMENT ON COLUMN omd_dispatch.task_suspension.suspension_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_dispatch.task_suspension.family_code IS 'The family.';
COMMENT ON COLUMN omd_dispatch.task_suspension.reason IS 'Why, in the words of the administrator.';
COMMENT ON COLUMN omd_dispatch.task_suspension.suspended_at IS 'Since when.';
COMMENT ON COLUMN omd_dispatch.task_suspension.suspended_by IS 'By whom.';
COMMENT ON COLUMN omd_dispatch.task_suspension.is_marked IS
'All pending tasks that it holds are marked; before, the guard of each claim holds the rest.';
COMMENT ON COLUMN omd_dispatch.task_suspension.resumed_at IS
'When it was resumed; NULL: it holds.';

CREATE TABLE omd_dispatch.task_suspension_criteria (
    suspension_id bigint NOT NULL,
    criterion text NOT NULL,
    criterion_value text NOT NULL,
    CONSTRAINT pk_task_suspension_criteria PRIMARY KEY (suspension_id, criterion, criterion_value),
    CONSTRAINT fk_task_suspension_criteria_suspension FOREIGN KEY (suspension_id)
    REFERENCES omd_dispatch.task_suspension (suspension_id) ON DELETE CASCADE
);
COMMENT ON TABLE omd_dispatch.task_suspension_criteria IS
'The values that a suspension concerns. One without a row of a criterion concerns all its values.';
COMMENT ON COLUMN omd_dispatch.task_suspension_criteria.suspension_id IS 'The suspension.';
COMMENT ON COLUMN omd_dispatch.task_suspension_criteria.criterion IS 'The criterion.';
COMMENT ON COLUMN omd_dispatch.task_suspension_criteria.criterion_value IS
'One of its values, as text of its type.';

CREATE TABLE omd_dispatch.task_suspension_types (
    suspension_id bigint NOT NULL,
    task_type text NOT NULL,
    CONSTRAINT pk_task_suspension_types PRIMARY KEY (suspension_id, task_type),
    CONSTRAINT fk_task_suspension_types_suspension FOREIGN KEY (suspension_id)
    REFERENCES omd_dispatch.task_suspension (suspension_id) ON DELETE CASCADE
);
COMMENT ON TABLE omd_dispatch.task_suspension_types IS
'The types that a suspension concerns. One without a row concerns the whole family.';
COMMENT ON COLUMN omd_dispatch.task_suspension_types.suspension_id IS 'The suspension.';
COMMENT ON COLUMN omd_dispatch.task_suspension_types.task_type IS 'The type.';

-- Schedules

CREATE TABLE omd_dispatch.task_schedule (
    schedule_code text NOT NULL,
    family_code text NOT NULL,
    task_type text NOT NULL,
    criteria jsonb NOT NULL,
    payload jsonb,
    cron text,
    every interval,
    time_zone text NOT NULL,
    missed text NOT NULL,
    priority smallint NOT NULL,
    source text,
    inactive_indicator text NOT NULL,
    next_time timestamptz NOT NULL,
    last_fired_at timestamptz,
    created_count bigint NOT NULL DEFAULT 0,
    skipped_count bigint NOT NULL DEFAULT 0,
    problem text,
    CONSTRAINT pk_task_schedule PRIMARY KEY (schedule_code),
    CONSTRAINT fk_task_schedule_type FOREIGN KEY (family_code, task_type)
    REFERENCES omd_dispatch.task_conf_type_desc (family_code, task_type),
    CONSTRAINT ck_task_schedule_time CHECK ((cron IS NULL) <> (every IS NULL)),
    CONSTRAINT ck_task_schedule_every CHECK (every > interval '0'),
    CONSTRAINT ck_task_schedule_missed CHECK (missed IN ('ONCE', 'ALL', 'SKIP')),
    CONSTRAINT ck_task_schedule_priority CHECK (priority BETWEEN 0 AND 9),
    CONSTRAINT ck_task_schedule_inactive CHECK (inactive_indicator IN ('Y', 'N'))
);
CREATE INDEX ix_task_schedule_next_time ON omd_dispatch.task_schedule (next_time);
COMMENT ON TABLE omd_dispatch.task_schedule IS
'When which tasks are created. Administrators may write next_time and inactive_indicator.';
COMMENT ON COLUMN omd_dispatch.task_schedule.schedule_code IS 'The schedule.';
COMMENT ON COLUMN omd_dispatch.task_schedule.family_code IS 'The family of its tasks.';
COMMENT ON COLUMN omd_dispatch.task_schedule.task_type IS 'The type of its tasks.';
COMMENT ON COLUMN omd_dispatch.task_schedule.criteria IS 'The criteria of its tasks.';
COMMENT ON COLUMN omd_dispatch.task_schedule.payload IS 'The payload of its tasks.';
COMMENT ON COLUMN omd_dispatch.task_schedule.cron IS 'Minute hour day month weekday.';
COMMENT ON COLUMN omd_dispatch.task_schedule.every IS 'The time between two occurrences.';
COMMENT ON COLUMN omd_dispatch.task_schedule.time_zone IS 'The time zone of cron.';
COMMENT ON COLUMN omd_dispatch.task_schedule.missed IS
'What becomes of occurrences that are older than a minute. ONCE: one task, for the newest. ALL: '
'one each. SKIP: none.';
COMMENT ON COLUMN omd_dispatch.task_schedule.priority IS 'The priority of its tasks.';
COMMENT ON COLUMN omd_dispatch.task_schedule.source IS
'A view that gives a task per row; its columns are criteria in lower case. NULL: one task.';
COMMENT ON COLUMN omd_dispatch.task_schedule.inactive_indicator IS
'Y: next_time moves on, and no task is created.';
COMMENT ON COLUMN omd_dispatch.task_schedule.next_time IS 'The next occurrence.';
COMMENT ON COLUMN omd_dispatch.task_schedule.last_fired_at IS 'When it fired last.';
COMMENT ON COLUMN omd_dispatch.task_schedule.created_count IS 'How many tasks it has created.';
COMMENT ON COLUMN omd_dispatch.task_schedule.skipped_count IS
'How many tasks it has not created, since one with their key was live.';
COMMENT ON COLUMN omd_dispatch.task_schedule.problem IS
'The error of its last firing; NULL when there was none.';

-- The old model

CREATE TABLE omd_dispatch.job_type (
    task_type text NOT NULL,
    family_code text NOT NULL,
    CONSTRAINT pk_job_type PRIMARY KEY (task_type)
);
COMMENT ON TABLE omd_dispatch.job_type IS
'The types of tasks that the old model has a table for: job_ with the type in lower case.';
COMMENT ON COLUMN omd_dispatch.job_type.task_type IS 'The type.';
COMMENT ON COLUMN omd_dispatch.job_type.family_code IS 'Its family.';

CREATE TABLE omd_dispatch.job_type_criteria (
    task_type text NOT NULL,
    criterion text NOT NULL,
    is_key boolean NOT NULL,
    CONSTRAINT pk_job_type_criteria PRIMARY KEY (task_type, criterion)
);
COMMENT ON TABLE omd_dispatch.job_type_criteria IS 'The criteria of each type in the old model.';
COMMENT ON COLUMN omd_dispatch.job_type_criteria.task_type IS 'The type.';
COMMENT ON COLUMN omd_dispatch.job_type_criteria.criterion IS 'The criterion.';
COMMENT ON COLUMN omd_dispatch.job_type_criteria.is_key IS 'It is part of the key.';

CREATE TABLE omd_dispatch.trigger_id_task_type (
    trigger_id text NOT NULL,
    task_type text NOT NULL,
    CONSTRAINT pk_trigger_id_task_type PRIMARY KEY (trigger_id, task_type)
);
COMMENT ON TABLE omd_dispatch.trigger_id_task_type IS
'Which trigger of the old system starts which types. Here it is data only.';
COMMENT ON COLUMN omd_dispatch.trigger_id_task_type.trigger_id IS 'The trigger.';
COMMENT ON COLUMN omd_dispatch.trigger_id_task_type.task_type IS 'The type.';

CREATE TABLE omd_dispatch.deliver_id_task_type (
    deliver_id text NOT NULL,
    task_type text NOT NULL,
    CONSTRAINT pk_deliver_id_task_type PRIMARY KEY (deliver_id, task_type)
);
COMMENT ON TABLE omd_dispatch.deliver_id_task_type IS
'Which group of workers takes the tasks of a type in the old model.';
COMMENT ON COLUMN omd_dispatch.deliver_id_task_type.deliver_id IS 'The group.';
COMMENT ON COLUMN omd_dispatch.deliver_id_task_type.task_type IS 'The type.';

CREATE TABLE omd_dispatch.task_migration_discrepancy (
    task_migration_discrepancy_id bigint GENERATED ALWAYS AS IDENTITY,
    family_code text NOT NULL,
    task_id bigint NOT NULL,
    seen_at timestamptz NOT NULL,
    kind text NOT NULL,
    detail text,
    CONSTRAINT pk_task_migration_discrepancy PRIMARY KEY (task_migration_discrepancy_id),
    CONSTRAINT ck_task_migration_discrepancy_kind CHECK (
        kind IN ('MISSING', 'EXTRA', 'DIFFERENT', 'FAILED')
    )
);
CREATE INDEX ix_task_migration_discrepancy_family
ON omd_dispatch.task_migration_discrepancy (family_code, task_migration_discrepancy_id);
COMMENT ON TABLE omd_dispatch.task_migration_discrepancy IS
'Differences between the two models that writes have met, and mended.';
COMMENT ON COLUMN omd_dispatch.task_migration_discrepancy.task_migration_discrepancy_id IS
'Surrogate key, in order.';
COMMENT ON COLUMN omd_dispatch.task_migration_discrepancy.family_code IS 'The family.';
COMMENT ON COLUMN omd_dispatch.task_migration_discrepancy.task_id IS 'The task.';
COMMENT ON COLUMN omd_dispatch.task_migration_discrepancy.seen_at IS 'When.';
COMMENT ON COLUMN omd_dispatch.task_migration_discrepancy.kind IS
'MISSING: the copy lacked it. EXTRA: the copy had it still. DIFFERENT: a value differed. FAILED: '
'the copy could not be written.';
COMMENT ON COLUMN omd_dispatch.task_migration_discrepancy.detail IS 'What differed, or the error.';
