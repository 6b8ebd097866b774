-- V024: delivery, second part: tenants, agreements and deliveries, what was measured and decided,
-- the marks and the queue to the facts. register_agreement makes the staging tables. Applied once.
-- Source: i-refactory, "Staging" and "Delivery".

CREATE TABLE omd_delivery.tenant (
    tenant_id integer GENERATED ALWAYS AS IDENTITY,
    tenant_code text NOT NULL,
    tenant_name text NOT NULL,
    CONSTRAINT pk_tenant PRIMARY KEY (tenant_id),
    CONSTRAINT uq_tenant_code UNIQUE (tenant_code)
);
COMMENT ON TABLE omd_delivery.tenant IS 'The tenants: who delivers.';
COMMENT ON COLUMN omd_delivery.tenant.tenant_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_delivery.tenant.tenant_code IS 'The tenant.';
COMMENT ON COLUMN omd_delivery.tenant.tenant_name IS 'Its name.';

CREATE TABLE omd_delivery.agreement (
    agreement_id integer GENERATED ALWAYS AS IDENTITY,
    agreement_code text NOT NULL,
    tenant_id integer NOT NULL,
    interface_id integer NOT NULL,
    layer_code text NOT NULL,
    effective_from date,
    effective_to date,
    entity_ids integer[],
    completeness text NOT NULL,
    context jsonb NOT NULL,
    settings jsonb NOT NULL,
    options jsonb NOT NULL,
    inactive_indicator text NOT NULL DEFAULT 'N',
    staging_schema text NOT NULL GENERATED ALWAYS AS ('stg_' || agreement_code) STORED,
    batch_code text NOT NULL GENERATED ALWAYS AS ('delivery.' || agreement_code) STORED,
    CONSTRAINT pk_agreement PRIMARY KEY (agreement_id),
    CONSTRAINT uq_agreement_code UNIQUE (agreement_code),
    CONSTRAINT fk_agreement_tenant FOREIGN KEY (tenant_id)
    REFERENCES omd_delivery.tenant (tenant_id),
    CONSTRAINT fk_agreement_interface FOREIGN KEY (interface_id)
    REFERENCES omd_delivery.interface (interface_id),
    CONSTRAINT ck_agreement_code CHECK (agreement_code ~ '^[a-z][a-z0-9_]{0,40}$'),
    CONSTRAINT ck_agreement_layer CHECK (layer_code IN ('LVL', 'GDAL', 'EXPORT')),
    CONSTRAINT ck_agreement_completeness CHECK (completeness IN ('PARTIAL', 'COMPLETE')),
    CONSTRAINT ck_agreement_dates CHECK (effective_from <= effective_to),
    CONSTRAINT ck_agreement_inactive CHECK (inactive_indicator IN ('Y', 'N'))
);
CREATE INDEX ix_agreement_tenant ON omd_delivery.agreement (tenant_id);
CREATE INDEX ix_agreement_interface ON omd_delivery.agreement (interface_id);
COMMENT ON TABLE omd_delivery.agreement IS
'The agreements: what a tenant may deliver to an interface, and how it is judged.';
COMMENT ON COLUMN omd_delivery.agreement.agreement_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_delivery.agreement.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_delivery.agreement.tenant_id IS 'The tenant.';
COMMENT ON COLUMN omd_delivery.agreement.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_delivery.agreement.layer_code IS
'What is delivered to: LVL; GDAL and EXPORT belong to the facts.';
COMMENT ON COLUMN omd_delivery.agreement.effective_from IS
'The first day of the agreement; NULL: it has none.';
COMMENT ON COLUMN omd_delivery.agreement.effective_to IS
'The last day of the agreement; NULL: it has none.';
COMMENT ON COLUMN omd_delivery.agreement.entity_ids IS
'The entities that may be delivered; NULL: all that are not retired.';
COMMENT ON COLUMN omd_delivery.agreement.completeness IS
'COMPLETE: each delivery has all of its entities. PARTIAL: it need not.';
COMMENT ON COLUMN omd_delivery.agreement.context IS
'The keys that the tenant is bound to: entity and list of keys.';
COMMENT ON COLUMN omd_delivery.agreement.settings IS
'The fields of settings that override those of the model, by constraint.';
COMMENT ON COLUMN omd_delivery.agreement.options IS
'The options: csv, include_existing, max_concurrent_entities, max_sample_size.';
COMMENT ON COLUMN omd_delivery.agreement.inactive_indicator IS 'Y refuses new deliveries.';
COMMENT ON COLUMN omd_delivery.agreement.staging_schema IS 'The schema of its staging tables.';
COMMENT ON COLUMN omd_delivery.agreement.batch_code IS 'The Batch as which its deliveries run.';

CREATE TABLE omd_delivery.delivery_status (
    layer_code text NOT NULL,
    delivery_status text NOT NULL,
    is_end boolean NOT NULL,
    status_description text NOT NULL,
    CONSTRAINT pk_delivery_status PRIMARY KEY (layer_code, delivery_status)
);
COMMENT ON TABLE omd_delivery.delivery_status IS 'The statuses of deliveries in each layer.';
COMMENT ON COLUMN omd_delivery.delivery_status.layer_code IS 'The layer.';
COMMENT ON COLUMN omd_delivery.delivery_status.delivery_status IS 'The status.';
COMMENT ON COLUMN omd_delivery.delivery_status.is_end IS
'Nothing more happens to such a delivery by itself.';
COMMENT ON COLUMN omd_delivery.delivery_status.status_description IS 'What it means.';

CREATE TABLE omd_delivery.delivery_transition (
    layer_code text NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    event text NOT NULL,
    CONSTRAINT pk_delivery_transition PRIMARY KEY (layer_code, from_status, event, to_status),
    CONSTRAINT fk_delivery_transition_from FOREIGN KEY (layer_code, from_status)
    REFERENCES omd_delivery.delivery_status (layer_code, delivery_status),
    CONSTRAINT fk_delivery_transition_to FOREIGN KEY (layer_code, to_status)
    REFERENCES omd_delivery.delivery_status (layer_code, delivery_status)
);
COMMENT ON TABLE omd_delivery.delivery_transition IS 'The only changes of status that there are.';
COMMENT ON COLUMN omd_delivery.delivery_transition.layer_code IS 'The layer.';
COMMENT ON COLUMN omd_delivery.delivery_transition.from_status IS 'The status before.';
COMMENT ON COLUMN omd_delivery.delivery_transition.to_status IS 'The status after.';
COMMENT ON COLUMN omd_delivery.delivery_transition.event IS 'The routine that makes the change.';

CREATE TABLE omd_delivery.delivery (
    delivery_id bigint GENERATED ALWAYS AS IDENTITY,
    agreement_id integer NOT NULL,
    interface_id integer NOT NULL,
    layer_code text NOT NULL,
    snapshot_datetime timestamptz,
    delivery_status text NOT NULL,
    verdict text,
    attempt integer NOT NULL DEFAULT 0,
    batch_instance_id bigint,
    is_running boolean NOT NULL DEFAULT FALSE,
    model_version integer,
    delete_type text NOT NULL DEFAULT 'LOGICAL',
    include_existing boolean NOT NULL DEFAULT TRUE,
    is_dry_run boolean NOT NULL DEFAULT FALSE,
    context jsonb NOT NULL DEFAULT '{}',
    message jsonb,
    options jsonb NOT NULL DEFAULT '{}',
    reasons jsonb NOT NULL DEFAULT '[]',
    created_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    status_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by text NOT NULL DEFAULT session_user,
    purged_datetime timestamptz,
    CONSTRAINT pk_delivery PRIMARY KEY (delivery_id),
    CONSTRAINT fk_delivery_agreement FOREIGN KEY (agreement_id)
    REFERENCES omd_delivery.agreement (agreement_id),
    CONSTRAINT fk_delivery_interface FOREIGN KEY (interface_id)
    REFERENCES omd_delivery.interface (interface_id),
    CONSTRAINT fk_delivery_status FOREIGN KEY (layer_code, delivery_status)
    REFERENCES omd_delivery.delivery_status (layer_code, delivery_status),
    CONSTRAINT ck_delivery_delete_type CHECK (delete_type IN ('LOGICAL', 'PHYSICAL')),
    CONSTRAINT ck_delivery_verdict CHECK (
        verdict IN ('ACCEPTED', 'ACCEPTED WITH FINDINGS', 'REJECTED')
    ),
    CONSTRAINT ck_delivery_snapshot CHECK (layer_code <> 'LVL' OR snapshot_datetime IS NOT NULL)
);
CREATE INDEX ix_delivery_agreement ON omd_delivery.delivery (agreement_id, delivery_id);
CREATE INDEX ix_delivery_unfinished ON omd_delivery.delivery (interface_id, delivery_id)
WHERE layer_code = 'LVL' AND delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED');
CREATE INDEX ix_delivery_purge ON omd_delivery.delivery (status_datetime, delivery_id)
WHERE purged_datetime IS NULL;
COMMENT ON TABLE omd_delivery.delivery IS
'The deliveries. A row changes under the lock of its interface.';
COMMENT ON COLUMN omd_delivery.delivery.delivery_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_delivery.delivery.agreement_id IS 'The agreement.';
COMMENT ON COLUMN omd_delivery.delivery.interface_id IS 'The interface of the agreement.';
COMMENT ON COLUMN omd_delivery.delivery.layer_code IS 'The layer of the agreement.';
COMMENT ON COLUMN omd_delivery.delivery.snapshot_datetime IS
'T: the transaction time of every row that it causes; NULL outside of LVL where none was given.';
COMMENT ON COLUMN omd_delivery.delivery.delivery_status IS 'The status.';
COMMENT ON COLUMN omd_delivery.delivery.verdict IS
'ACCEPTED, ACCEPTED WITH FINDINGS or REJECTED; NULL before it is decided.';
COMMENT ON COLUMN omd_delivery.delivery.attempt IS
'The number of its newest run; 0: it has not begun.';
COMMENT ON COLUMN omd_delivery.delivery.batch_instance_id IS
'The Batch Instance of the newest run; NULL before the first.';
COMMENT ON COLUMN omd_delivery.delivery.is_running IS
'The newest run was not ended; it may be dead.';
COMMENT ON COLUMN omd_delivery.delivery.model_version IS
'The version of the model by which the newest run validates; NULL before the first.';
COMMENT ON COLUMN omd_delivery.delivery.delete_type IS
'LOGICAL: deleted rows stay as history. PHYSICAL: all rows of the key go.';
COMMENT ON COLUMN omd_delivery.delivery.include_existing IS
'Previous versions of skipped rows stand for them in stage 2.';
COMMENT ON COLUMN omd_delivery.delivery.is_dry_run IS 'It is validated, and has no effect.';
COMMENT ON COLUMN omd_delivery.delivery.context IS
'The keys that it is about: entity and list of keys.';
COMMENT ON COLUMN omd_delivery.delivery.message IS 'The words of the sender; NULL: none.';
COMMENT ON COLUMN omd_delivery.delivery.options IS 'The options, as they were at its creation.';
COMMENT ON COLUMN omd_delivery.delivery.reasons IS
'Why it was refused; an empty list when it was not.';
COMMENT ON COLUMN omd_delivery.delivery.created_datetime IS 'When it was created.';
COMMENT ON COLUMN omd_delivery.delivery.status_datetime IS 'Since when it has its status.';
COMMENT ON COLUMN omd_delivery.delivery.created_by IS 'Who created it.';
COMMENT ON COLUMN omd_delivery.delivery.purged_datetime IS
'When its deltas and samples were purged; NULL: they were not.';

CREATE TABLE omd_delivery.delivery_event (
    delivery_event_id bigint GENERATED ALWAYS AS IDENTITY,
    delivery_id bigint NOT NULL,
    from_status text,
    to_status text NOT NULL,
    event text NOT NULL,
    attempt integer NOT NULL,
    reason text,
    editor text NOT NULL,
    event_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_delivery_event PRIMARY KEY (delivery_event_id),
    CONSTRAINT fk_delivery_event_delivery FOREIGN KEY (delivery_id)
    REFERENCES omd_delivery.delivery (delivery_id)
);
CREATE INDEX ix_delivery_event_delivery ON omd_delivery.delivery_event (delivery_id);
COMMENT ON TABLE omd_delivery.delivery_event IS 'What happened to each delivery.';
COMMENT ON COLUMN omd_delivery.delivery_event.delivery_event_id IS
'Surrogate key; the order of the events.';
COMMENT ON COLUMN omd_delivery.delivery_event.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_delivery.delivery_event.from_status IS
'The status before; NULL for its creation.';
COMMENT ON COLUMN omd_delivery.delivery_event.to_status IS 'The status after.';
COMMENT ON COLUMN omd_delivery.delivery_event.event IS 'The routine that made the change.';
COMMENT ON COLUMN omd_delivery.delivery_event.attempt IS 'The number of its newest run.';
COMMENT ON COLUMN omd_delivery.delivery_event.reason IS
'Why, in words; NULL where nothing was said.';
COMMENT ON COLUMN omd_delivery.delivery_event.editor IS 'Who made the change.';
COMMENT ON COLUMN omd_delivery.delivery_event.event_datetime IS 'When.';

CREATE TABLE omd_delivery.delivery_entity (
    delivery_id bigint NOT NULL,
    entity_id integer NOT NULL,
    load_type text NOT NULL,
    context_type text,
    rows_announced bigint,
    allows_deletes boolean NOT NULL,
    module_instance_id bigint,
    rows_new bigint,
    rows_changed bigint,
    rows_deleted bigint,
    rows_unchanged bigint,
    former_snapshot_datetime timestamptz,
    former_delivery_id bigint,
    CONSTRAINT pk_delivery_entity PRIMARY KEY (delivery_id, entity_id),
    CONSTRAINT fk_delivery_entity_delivery FOREIGN KEY (delivery_id)
    REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT fk_delivery_entity_entity FOREIGN KEY (entity_id)
    REFERENCES omd_delivery.entity (entity_id),
    CONSTRAINT ck_delivery_entity_load CHECK (load_type IN ('FULL', 'DELTA')),
    CONSTRAINT ck_delivery_entity_context CHECK (
        context_type IS NULL OR (context_type IN ('ALL', 'ROWS') AND load_type = 'FULL')
    ),
    CONSTRAINT ck_delivery_entity_rows CHECK (rows_announced >= 0)
);
CREATE INDEX ix_delivery_entity_entity ON omd_delivery.delivery_entity (entity_id);
CREATE INDEX ix_delivery_entity_instance
ON omd_delivery.delivery_entity (module_instance_id);
COMMENT ON TABLE omd_delivery.delivery_entity IS 'The entities of each delivery.';
COMMENT ON COLUMN omd_delivery.delivery_entity.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_delivery.delivery_entity.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_delivery.delivery_entity.load_type IS
'FULL: what is missing was deleted. DELTA: only changes are delivered.';
COMMENT ON COLUMN omd_delivery.delivery_entity.context_type IS
'ALL: parents that are delivered filter nothing. ROWS: the delivered rows name the parents. NULL: '
'what is delivered and named decides.';
COMMENT ON COLUMN omd_delivery.delivery_entity.rows_announced IS
'The number of rows that the sender announced; NULL: none.';
COMMENT ON COLUMN omd_delivery.delivery_entity.allows_deletes IS
'The threshold of its implicit deletes is lifted.';
COMMENT ON COLUMN omd_delivery.delivery_entity.module_instance_id IS
'The Module Instance of the newest run; NULL before the first.';
COMMENT ON COLUMN omd_delivery.delivery_entity.rows_new IS
'How many rows were new (N); NULL before apply_delta.';
COMMENT ON COLUMN omd_delivery.delivery_entity.rows_changed IS
'How many rows had changed (A); NULL before apply_delta.';
COMMENT ON COLUMN omd_delivery.delivery_entity.rows_deleted IS
'How many rows were deleted (R); NULL before apply_delta.';
COMMENT ON COLUMN omd_delivery.delivery_entity.rows_unchanged IS
'How many delivered rows had no effect; NULL before apply_delta.';
COMMENT ON COLUMN omd_delivery.delivery_entity.former_snapshot_datetime IS
'The mark that apply_delta raised; NULL: there was none.';
COMMENT ON COLUMN omd_delivery.delivery_entity.former_delivery_id IS
'The delivery that had set it; NULL: there was none.';

CREATE TABLE omd_delivery.entity_result (
    delivery_id bigint NOT NULL,
    attempt integer NOT NULL,
    stage integer NOT NULL,
    entity_id integer NOT NULL,
    load_type text,
    rows_delivered bigint,
    rows_skipped bigint,
    rows_implicit_deletes bigint,
    rows_in_scope bigint,
    findings jsonb NOT NULL DEFAULT '{}',
    measured_datetime timestamptz,
    CONSTRAINT pk_entity_result PRIMARY KEY (delivery_id, attempt, stage, entity_id),
    CONSTRAINT fk_entity_result_delivery FOREIGN KEY (delivery_id)
    REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT fk_entity_result_entity FOREIGN KEY (entity_id)
    REFERENCES omd_delivery.entity (entity_id)
);
CREATE INDEX ix_entity_result_entity ON omd_delivery.entity_result (entity_id);
COMMENT ON TABLE omd_delivery.entity_result IS
'The entities that each stage of a run validates, and what was counted.';
COMMENT ON COLUMN omd_delivery.entity_result.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_delivery.entity_result.attempt IS 'The number of the run.';
COMMENT ON COLUMN omd_delivery.entity_result.stage IS 'The stage.';
COMMENT ON COLUMN omd_delivery.entity_result.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_delivery.entity_result.load_type IS
'FULL or DELTA; NULL: it is not delivered, and the delivery may break its rows.';
COMMENT ON COLUMN omd_delivery.entity_result.rows_delivered IS
'How many rows were delivered; NULL before they were counted.';
COMMENT ON COLUMN omd_delivery.entity_result.rows_skipped IS
'How many of them are skipped, in this stage and before; NULL before they were counted.';
COMMENT ON COLUMN omd_delivery.entity_result.rows_implicit_deletes IS
'How many current rows are missing in a Full entity; NULL before they were counted.';
COMMENT ON COLUMN omd_delivery.entity_result.rows_in_scope IS
'How many current rows the delivery is about; NULL before they were counted.';
COMMENT ON COLUMN omd_delivery.entity_result.findings IS
'What else was found: finding and number of rows.';
COMMENT ON COLUMN omd_delivery.entity_result.measured_datetime IS
'When the counts were registered; NULL before.';

CREATE TABLE omd_delivery.constraint_result (
    delivery_id bigint NOT NULL,
    attempt integer NOT NULL,
    constraint_id integer NOT NULL,
    stage integer NOT NULL,
    action text,
    threshold bigint,
    threshold_percent numeric,
    warn bigint,
    warn_percent numeric,
    holds_when_empty boolean NOT NULL DEFAULT FALSE,
    violations bigint,
    existing bigint,
    level text,
    CONSTRAINT pk_constraint_result PRIMARY KEY (delivery_id, attempt, constraint_id),
    CONSTRAINT fk_constraint_result_delivery FOREIGN KEY (delivery_id)
    REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT fk_constraint_result_constraint FOREIGN KEY (constraint_id)
    REFERENCES omd_delivery.model_constraint (constraint_id)
);
CREATE INDEX ix_constraint_result_constraint
ON omd_delivery.constraint_result (constraint_id);
COMMENT ON TABLE omd_delivery.constraint_result IS
'The constraints that a run checks, with the action and the thresholds that were fixed when it '
'began, and how many rows violate each.';
COMMENT ON COLUMN omd_delivery.constraint_result.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_delivery.constraint_result.attempt IS 'The number of the run.';
COMMENT ON COLUMN omd_delivery.constraint_result.constraint_id IS 'The constraint.';
COMMENT ON COLUMN omd_delivery.constraint_result.stage IS 'Its stage.';
COMMENT ON COLUMN omd_delivery.constraint_result.action IS
'S SKIP ROW, E EMPTY COLUMN, N NO ACTION; NULL where it takes none.';
COMMENT ON COLUMN omd_delivery.constraint_result.threshold IS
'More violating rows reject the delivery; NULL: no such number.';
COMMENT ON COLUMN omd_delivery.constraint_result.threshold_percent IS
'A greater share of the rows rejects the delivery; NULL: no such share.';
COMMENT ON COLUMN omd_delivery.constraint_result.warn IS
'More violating rows are a warning; NULL: no such number.';
COMMENT ON COLUMN omd_delivery.constraint_result.warn_percent IS
'A greater share of the rows is a warning; NULL: no such share.';
COMMENT ON COLUMN omd_delivery.constraint_result.holds_when_empty IS
'The thresholds hold only where no row at all was delivered.';
COMMENT ON COLUMN omd_delivery.constraint_result.violations IS
'How many rows violate it, existing ones too; NULL before they were counted.';
COMMENT ON COLUMN omd_delivery.constraint_result.existing IS
'How many of them are existing rows that the delivery breaks; NULL before they were counted.';
COMMENT ON COLUMN omd_delivery.constraint_result.level IS
'NONE, FINDING, WARN or REJECT; NULL before the verdict.';

CREATE TABLE omd_delivery.stage_result (
    delivery_id bigint NOT NULL,
    attempt integer NOT NULL,
    stage integer NOT NULL,
    verdict text,
    delivery_status text NOT NULL,
    reasons jsonb NOT NULL,
    decided_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_stage_result PRIMARY KEY (delivery_id, attempt, stage),
    CONSTRAINT fk_stage_result_delivery FOREIGN KEY (delivery_id)
    REFERENCES omd_delivery.delivery (delivery_id)
);
COMMENT ON TABLE omd_delivery.stage_result IS 'The verdicts on the stages of each run.';
COMMENT ON COLUMN omd_delivery.stage_result.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_delivery.stage_result.attempt IS 'The number of the run.';
COMMENT ON COLUMN omd_delivery.stage_result.stage IS 'The stage.';
COMMENT ON COLUMN omd_delivery.stage_result.verdict IS
'The verdict on the delivery; NULL: stage 1 was passed.';
COMMENT ON COLUMN omd_delivery.stage_result.delivery_status IS 'The status that followed.';
COMMENT ON COLUMN omd_delivery.stage_result.reasons IS 'What exceeded its threshold.';
COMMENT ON COLUMN omd_delivery.stage_result.decided_datetime IS 'When it was decided.';

CREATE TABLE omd_delivery.sample (
    sample_id bigint GENERATED ALWAYS AS IDENTITY,
    delivery_id bigint NOT NULL,
    attempt integer NOT NULL,
    entity_id integer NOT NULL,
    record_key jsonb,
    origin text NOT NULL,
    constraint_codes text[] NOT NULL,
    is_skipped boolean NOT NULL,
    raw jsonb,
    staged_from text,
    CONSTRAINT pk_sample PRIMARY KEY (sample_id),
    CONSTRAINT fk_sample_delivery FOREIGN KEY (delivery_id)
    REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT fk_sample_entity FOREIGN KEY (entity_id)
    REFERENCES omd_delivery.entity (entity_id),
    CONSTRAINT ck_sample_origin CHECK (origin IN ('DELIVERED', 'EXISTING'))
);
CREATE INDEX ix_sample_delivery ON omd_delivery.sample (delivery_id, attempt, entity_id);
CREATE INDEX ix_sample_entity ON omd_delivery.sample (entity_id);
COMMENT ON TABLE omd_delivery.sample IS
'Violating rows, as they were staged; the view quarantine shows them. They are business data.';
COMMENT ON COLUMN omd_delivery.sample.sample_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_delivery.sample.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_delivery.sample.attempt IS 'The number of the run.';
COMMENT ON COLUMN omd_delivery.sample.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_delivery.sample.record_key IS
'The key of the row: attribute and value; NULL where it can''t be read.';
COMMENT ON COLUMN omd_delivery.sample.origin IS
'DELIVERED, or EXISTING: the delivery would break it.';
COMMENT ON COLUMN omd_delivery.sample.constraint_codes IS 'The constraints that it violates.';
COMMENT ON COLUMN omd_delivery.sample.is_skipped IS 'It is skipped.';
COMMENT ON COLUMN omd_delivery.sample.raw IS 'The row as it was staged; NULL for an existing row.';
COMMENT ON COLUMN omd_delivery.sample.staged_from IS
'The file or table that it was staged from; NULL where it is not known.';

CREATE TABLE omd_delivery.high_water_mark (
    entity_id integer NOT NULL,
    snapshot_datetime timestamptz NOT NULL,
    delivery_id bigint,
    CONSTRAINT pk_high_water_mark PRIMARY KEY (entity_id),
    CONSTRAINT fk_high_water_mark_entity FOREIGN KEY (entity_id)
    REFERENCES omd_delivery.entity (entity_id),
    CONSTRAINT fk_high_water_mark_delivery FOREIGN KEY (delivery_id)
    REFERENCES omd_delivery.delivery (delivery_id)
);
CREATE INDEX ix_high_water_mark_delivery ON omd_delivery.high_water_mark (delivery_id);
COMMENT ON TABLE omd_delivery.high_water_mark IS
'Up to when each entity has been delivered; later deliveries must be later.';
COMMENT ON COLUMN omd_delivery.high_water_mark.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_delivery.high_water_mark.snapshot_datetime IS 'The newest T.';
COMMENT ON COLUMN omd_delivery.high_water_mark.delivery_id IS
'The delivery that set it; NULL: the facts did.';

CREATE TABLE omd_delivery.delta_queue (
    queue_id bigint GENERATED ALWAYS AS IDENTITY,
    delivery_id bigint NOT NULL,
    interface_id integer NOT NULL,
    snapshot_datetime timestamptz NOT NULL,
    delete_type text NOT NULL DEFAULT 'LOGICAL',
    queue_status text NOT NULL DEFAULT 'QUEUED',
    entity_ids integer[] NOT NULL DEFAULT '{}',
    delivered_entity_ids integer[] NOT NULL DEFAULT '{}',
    row_counts jsonb NOT NULL DEFAULT '{}',
    model_version integer NOT NULL DEFAULT 1,
    queued_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_datetime timestamptz,
    finished_datetime timestamptz,
    module_instance_id bigint,
    CONSTRAINT pk_delta_queue PRIMARY KEY (queue_id),
    CONSTRAINT uq_delta_queue_delivery UNIQUE (delivery_id),
    CONSTRAINT fk_delta_queue_delivery FOREIGN KEY (delivery_id)
    REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT fk_delta_queue_interface FOREIGN KEY (interface_id)
    REFERENCES omd_delivery.interface (interface_id),
    CONSTRAINT ck_delta_queue_status CHECK (queue_status IN ('QUEUED', 'LOADING', 'PERSISTED')),
    CONSTRAINT ck_delta_queue_delete_type CHECK (delete_type IN ('LOGICAL', 'PHYSICAL'))
);
CREATE INDEX ix_delta_queue_interface ON omd_delivery.delta_queue (interface_id, queue_id);
CREATE INDEX ix_delta_queue_open ON omd_delivery.delta_queue (interface_id, queue_id)
WHERE queue_status <> 'PERSISTED';
COMMENT ON TABLE omd_delivery.delta_queue IS
'The accepted deliveries in the order in which the facts take them.';
COMMENT ON COLUMN omd_delivery.delta_queue.queue_id IS
'Surrogate key; per interface the order of the commits.';
COMMENT ON COLUMN omd_delivery.delta_queue.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_delivery.delta_queue.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_delivery.delta_queue.snapshot_datetime IS 'T of the delivery.';
COMMENT ON COLUMN omd_delivery.delta_queue.delete_type IS 'LOGICAL or PHYSICAL.';
COMMENT ON COLUMN omd_delivery.delta_queue.queue_status IS 'QUEUED, LOADING or PERSISTED.';
COMMENT ON COLUMN omd_delivery.delta_queue.entity_ids IS 'The entities whose delta has rows.';
COMMENT ON COLUMN omd_delivery.delta_queue.delivered_entity_ids IS 'All delivered entities.';
COMMENT ON COLUMN omd_delivery.delta_queue.row_counts IS
'The rows of each delta: entity, and how many are N, A and R.';
COMMENT ON COLUMN omd_delivery.delta_queue.model_version IS
'The version of the model with which the delta was made.';
COMMENT ON COLUMN omd_delivery.delta_queue.queued_datetime IS 'When it was queued.';
COMMENT ON COLUMN omd_delivery.delta_queue.started_datetime IS 'When its load began; NULL before.';
COMMENT ON COLUMN omd_delivery.delta_queue.finished_datetime IS
'When it was persisted; NULL before.';
COMMENT ON COLUMN omd_delivery.delta_queue.module_instance_id IS
'The Module Instance of the load; NULL before.';

CREATE TABLE omd_delivery.removal (
    removal_id bigint GENERATED ALWAYS AS IDENTITY,
    delivery_id bigint NOT NULL,
    entity_id integer NOT NULL,
    module_instance_id bigint,
    layer text NOT NULL,
    table_name text NOT NULL,
    key_count bigint NOT NULL,
    row_count bigint NOT NULL,
    removed_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_removal PRIMARY KEY (removal_id),
    CONSTRAINT fk_removal_delivery FOREIGN KEY (delivery_id)
    REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT fk_removal_entity FOREIGN KEY (entity_id)
    REFERENCES omd_delivery.entity (entity_id),
    CONSTRAINT ck_removal_layer CHECK (
        layer IN ('LVL', 'DELTA', 'STAGING', 'SAMPLE', 'ANCHOR', 'CONTEXT')
    ),
    CONSTRAINT ck_removal_counts CHECK (key_count >= 0 AND row_count >= 0)
);
CREATE INDEX ix_removal_delivery ON omd_delivery.removal (delivery_id);
CREATE INDEX ix_removal_entity ON omd_delivery.removal (entity_id);
COMMENT ON TABLE omd_delivery.removal IS
'The proof of physical deletes: how many keys and rows left which table. It holds no key.';
COMMENT ON COLUMN omd_delivery.removal.removal_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_delivery.removal.delivery_id IS 'The delivery that asked for it.';
COMMENT ON COLUMN omd_delivery.removal.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_delivery.removal.module_instance_id IS
'The Module Instance that did it; NULL where none is known.';
COMMENT ON COLUMN omd_delivery.removal.layer IS 'LVL, DELTA, STAGING, SAMPLE, ANCHOR or CONTEXT.';
COMMENT ON COLUMN omd_delivery.removal.table_name IS 'The table.';
COMMENT ON COLUMN omd_delivery.removal.key_count IS 'How many keys were to leave it.';
COMMENT ON COLUMN omd_delivery.removal.row_count IS 'How many rows left it.';
COMMENT ON COLUMN omd_delivery.removal.removed_datetime IS 'When.';
