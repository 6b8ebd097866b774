-- The tables of omd_delivery in 1.0, with which a new database begins. tools/baseline.py has
-- written them from the catalogue that the migrations of before_1_0 lead to. Applied once.

CREATE SCHEMA omd_delivery;
COMMENT ON SCHEMA omd_delivery IS
'Delivery: was what arrived agreed and acceptable, and what has changed.';

CREATE TABLE omd_delivery.interface (
    interface_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    interface_code text NOT NULL,
    model_version integer NOT NULL,
    lvl_schema text NOT NULL GENERATED ALWAYS AS ('lvl_'::text || interface_code) STORED,
    work_schema text NOT NULL GENERATED ALWAYS AS ('wrk_'::text || interface_code) STORED,
    facts jsonb,
    CONSTRAINT ck_interface_code CHECK (interface_code ~ '^[a-z][a-z0-9_]{0,40}$'::text),
    CONSTRAINT pk_interface PRIMARY KEY (interface_id),
    CONSTRAINT uq_interface_code UNIQUE (interface_code)
);
COMMENT ON TABLE omd_delivery.interface IS
'The interfaces: what a tenant may deliver. The row, locked FOR NO KEY UPDATE, is the lock of the '
'interface.';
COMMENT ON COLUMN omd_delivery.interface.interface_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_delivery.interface.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_delivery.interface.model_version IS
'The version of its model; each deployment that changes anything raises it by one.';
COMMENT ON COLUMN omd_delivery.interface.lvl_schema IS
'The schema of its tables in the Logical Validation Layer.';
COMMENT ON COLUMN omd_delivery.interface.work_schema IS 'The schema of its work tables.';
COMMENT ON COLUMN omd_delivery.interface.facts IS
'What the model says for the facts, as it was given; NULL where it says nothing.';

CREATE TABLE omd_delivery.model_version (
    interface_id integer NOT NULL,
    model_version integer NOT NULL,
    changes jsonb NOT NULL,
    deployed_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    deployed_by text NOT NULL DEFAULT session_user,
    CONSTRAINT pk_model_version PRIMARY KEY (interface_id, model_version),
    CONSTRAINT fk_model_version_interface FOREIGN KEY (
        interface_id
    ) REFERENCES omd_delivery.interface (interface_id)
);
COMMENT ON TABLE omd_delivery.model_version IS 'The versions of each model, and what each changed.';
COMMENT ON COLUMN omd_delivery.model_version.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_delivery.model_version.model_version IS 'Its version, from 1.';
COMMENT ON COLUMN omd_delivery.model_version.changes IS
'What it changed: a list of {"object", "change"}.';
COMMENT ON COLUMN omd_delivery.model_version.deployed_datetime IS 'When it was deployed.';
COMMENT ON COLUMN omd_delivery.model_version.deployed_by IS 'Who deployed it.';

CREATE TABLE omd_delivery.entity (
    entity_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    interface_id integer NOT NULL,
    entity_code text NOT NULL,
    ordinal integer NOT NULL,
    is_derived boolean NOT NULL,
    is_retired boolean NOT NULL,
    indicator_column text NOT NULL,
    indicator_delete text NOT NULL,
    derived_from text[],
    derived_query text,
    facts jsonb,
    module_id integer,
    erased_datetime timestamptz,
    CONSTRAINT ck_entity_code CHECK (entity_code ~ '^[a-z][a-z0-9_]{0,40}$'::text),
    CONSTRAINT ck_entity_derived CHECK (
        is_derived = (derived_from IS NOT NULL) AND is_derived = (derived_query IS NOT NULL)
    ),
    CONSTRAINT pk_entity PRIMARY KEY (entity_id),
    CONSTRAINT uq_entity_code UNIQUE (interface_id, entity_code),
    CONSTRAINT fk_entity_interface FOREIGN KEY (interface_id) REFERENCES omd_delivery.interface (
        interface_id
    )
);
COMMENT ON TABLE omd_delivery.entity IS
'The entities of each interface; each has a table in the Logical Validation Layer.';
COMMENT ON COLUMN omd_delivery.entity.entity_id IS 'Surrogate key, stable for ever.';
COMMENT ON COLUMN omd_delivery.entity.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_delivery.entity.entity_code IS 'The entity, and the name of its table.';
COMMENT ON COLUMN omd_delivery.entity.ordinal IS
'Its place in the model; a later entity comes behind the others.';
COMMENT ON COLUMN omd_delivery.entity.is_derived IS
'It is the result of a query over other staged entities.';
COMMENT ON COLUMN omd_delivery.entity.is_retired IS
'It stays with its rows, and nothing more is delivered.';
COMMENT ON COLUMN omd_delivery.entity.indicator_column IS
'The staged column that marks a deleted row in a Delta.';
COMMENT ON COLUMN omd_delivery.entity.indicator_delete IS 'The value that marks it.';
COMMENT ON COLUMN omd_delivery.entity.derived_from IS
'The entities over whose staged rows it is derived; NULL for one that is not.';
COMMENT ON COLUMN omd_delivery.entity.derived_query IS
'The Spark SQL that derives it; NULL for one that is not.';
COMMENT ON COLUMN omd_delivery.entity.facts IS
'What the model says for the facts, as it was given; NULL where it says nothing.';
COMMENT ON COLUMN omd_delivery.entity.module_id IS
'The Module lvl.<interface>.<entity>, whose runs update its table.';
COMMENT ON COLUMN omd_delivery.entity.erased_datetime IS
'When somebody was last erased from it: files of deliveries from before may name him; NULL: '
'never.';

CREATE TABLE omd_delivery.attribute (
    attribute_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    entity_id integer NOT NULL,
    attribute_code text NOT NULL,
    ordinal integer NOT NULL,
    data_type text NOT NULL,
    is_mandatory boolean NOT NULL,
    key_position integer,
    is_retired boolean NOT NULL,
    source_column text,
    computed text,
    format text,
    value_list jsonb,
    facts jsonb,
    CONSTRAINT ck_attribute_code CHECK (
        attribute_code ~ '^[a-z][a-z0-9_]{0,40}$'::text AND attribute_code !~ '^acm_'::text
    ),
    CONSTRAINT ck_attribute_key CHECK (key_position IS NULL OR NOT is_retired),
    CONSTRAINT ck_attribute_source CHECK ((source_column IS NULL) <> (computed IS NULL)),
    CONSTRAINT pk_attribute PRIMARY KEY (attribute_id),
    CONSTRAINT uq_attribute_code UNIQUE (entity_id, attribute_code),
    CONSTRAINT uq_attribute_ordinal UNIQUE (entity_id, ordinal),
    CONSTRAINT fk_attribute_entity FOREIGN KEY (entity_id) REFERENCES omd_delivery.entity (
        entity_id
    )
);
COMMENT ON TABLE omd_delivery.attribute IS
'The attributes of each entity; each is a column of its tables.';
COMMENT ON COLUMN omd_delivery.attribute.attribute_id IS 'Surrogate key, stable for ever.';
COMMENT ON COLUMN omd_delivery.attribute.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_delivery.attribute.attribute_code IS 'The attribute, and its column.';
COMMENT ON COLUMN omd_delivery.attribute.ordinal IS
'Its place in the model, stable for ever; a later attribute comes behind the others.';
COMMENT ON COLUMN omd_delivery.attribute.data_type IS 'Its type, as format_type prints it.';
COMMENT ON COLUMN omd_delivery.attribute.is_mandatory IS
'The model says that it must have a value; a key attribute must in any case.';
COMMENT ON COLUMN omd_delivery.attribute.key_position IS
'Its place in the primary key; NULL outside of the key.';
COMMENT ON COLUMN omd_delivery.attribute.is_retired IS
'It stays with its values, and nothing more is delivered.';
COMMENT ON COLUMN omd_delivery.attribute.source_column IS
'The staged column; NULL for a computed attribute.';
COMMENT ON COLUMN omd_delivery.attribute.computed IS
'The Spark SQL expression over the staged columns that computes it; NULL for one that is staged.';
COMMENT ON COLUMN omd_delivery.attribute.format IS
'The pattern of its date or time; NULL: that of ISO 8601.';
COMMENT ON COLUMN omd_delivery.attribute.value_list IS
'The list of values that it may have, as it was given; NULL: any.';
COMMENT ON COLUMN omd_delivery.attribute.facts IS
'What the model says for the facts, as it was given; NULL where it says nothing.';

CREATE TABLE omd_delivery.alternate_key (
    alternate_key_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    entity_id integer NOT NULL,
    alternate_key_code text NOT NULL,
    is_retired boolean NOT NULL,
    CONSTRAINT pk_alternate_key PRIMARY KEY (alternate_key_id),
    CONSTRAINT uq_alternate_key_code UNIQUE (entity_id, alternate_key_code),
    CONSTRAINT fk_alternate_key_entity FOREIGN KEY (entity_id) REFERENCES omd_delivery.entity (
        entity_id
    )
);
COMMENT ON TABLE omd_delivery.alternate_key IS
'The alternate keys: attributes that are unique together over current rows.';
COMMENT ON COLUMN omd_delivery.alternate_key.alternate_key_id IS 'Surrogate key, stable for ever.';
COMMENT ON COLUMN omd_delivery.alternate_key.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_delivery.alternate_key.alternate_key_code IS 'The alternate key.';
COMMENT ON COLUMN omd_delivery.alternate_key.is_retired IS 'The model has it no longer.';

CREATE TABLE omd_delivery.alternate_key_attribute (
    alternate_key_id integer NOT NULL,
    position integer NOT NULL,
    attribute_id integer NOT NULL,
    CONSTRAINT pk_alternate_key_attribute PRIMARY KEY (alternate_key_id, position),
    CONSTRAINT fk_alternate_key_attribute_key FOREIGN KEY (
        alternate_key_id
    ) REFERENCES omd_delivery.alternate_key (alternate_key_id),
    CONSTRAINT fk_alternate_key_attribute_attribute FOREIGN KEY (
        attribute_id
    ) REFERENCES omd_delivery.attribute (attribute_id)
);
CREATE INDEX ix_alternate_key_attribute ON omd_delivery.alternate_key_attribute (attribute_id);
COMMENT ON TABLE omd_delivery.alternate_key_attribute IS 'The attributes of each alternate key.';
COMMENT ON COLUMN omd_delivery.alternate_key_attribute.alternate_key_id IS 'The alternate key.';
COMMENT ON COLUMN omd_delivery.alternate_key_attribute.position IS
'The place in the key, from 1.';
COMMENT ON COLUMN omd_delivery.alternate_key_attribute.attribute_id IS 'The attribute.';

CREATE TABLE omd_delivery.relationship (
    relationship_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    relationship_code text NOT NULL,
    child_entity_id integer NOT NULL,
    parent_entity_id integer NOT NULL,
    is_dependent boolean NOT NULL,
    has_context_filter boolean NOT NULL,
    is_child_required boolean NOT NULL,
    is_retired boolean NOT NULL,
    CONSTRAINT pk_relationship PRIMARY KEY (relationship_id),
    CONSTRAINT uq_relationship_code UNIQUE (child_entity_id, relationship_code),
    CONSTRAINT fk_relationship_child FOREIGN KEY (child_entity_id) REFERENCES omd_delivery.entity (
        entity_id
    ),
    CONSTRAINT fk_relationship_parent FOREIGN KEY (
        parent_entity_id
    ) REFERENCES omd_delivery.entity (entity_id)
);
CREATE INDEX ix_relationship_parent ON omd_delivery.relationship (parent_entity_id);
COMMENT ON TABLE omd_delivery.relationship IS
'The relationships: attributes of a child that name the primary key of a parent.';
COMMENT ON COLUMN omd_delivery.relationship.relationship_id IS 'Surrogate key, stable for ever.';
COMMENT ON COLUMN omd_delivery.relationship.relationship_code IS 'The relationship.';
COMMENT ON COLUMN omd_delivery.relationship.child_entity_id IS 'The entity with the foreign key.';
COMMENT ON COLUMN omd_delivery.relationship.parent_entity_id IS 'The entity that it names.';
COMMENT ON COLUMN omd_delivery.relationship.is_dependent IS
'An attribute of it is in the key of the child.';
COMMENT ON COLUMN omd_delivery.relationship.has_context_filter IS
'The parents that are delivered or named limit which children a Full delivery is about.';
COMMENT ON COLUMN omd_delivery.relationship.is_child_required IS
'A parent must have a child by it.';
COMMENT ON COLUMN omd_delivery.relationship.is_retired IS 'The model has it no longer.';

CREATE TABLE omd_delivery.relationship_column (
    relationship_id integer NOT NULL,
    position integer NOT NULL,
    child_attribute_id integer NOT NULL,
    parent_attribute_id integer NOT NULL,
    CONSTRAINT pk_relationship_column PRIMARY KEY (relationship_id, position),
    CONSTRAINT fk_relationship_column_relationship FOREIGN KEY (
        relationship_id
    ) REFERENCES omd_delivery.relationship (relationship_id),
    CONSTRAINT fk_relationship_column_child FOREIGN KEY (
        child_attribute_id
    ) REFERENCES omd_delivery.attribute (attribute_id),
    CONSTRAINT fk_relationship_column_parent FOREIGN KEY (
        parent_attribute_id
    ) REFERENCES omd_delivery.attribute (attribute_id)
);
CREATE INDEX ix_relationship_column_child ON omd_delivery.relationship_column (child_attribute_id);
CREATE INDEX ix_relationship_column_parent ON omd_delivery.relationship_column (
    parent_attribute_id
);
COMMENT ON TABLE omd_delivery.relationship_column IS
'The attributes of each relationship, in the order of the primary key of the parent.';
COMMENT ON COLUMN omd_delivery.relationship_column.relationship_id IS 'The relationship.';
COMMENT ON COLUMN omd_delivery.relationship_column.position IS
'The place in the key of the parent, from 1.';
COMMENT ON COLUMN omd_delivery.relationship_column.child_attribute_id IS
'The attribute of the child.';
COMMENT ON COLUMN omd_delivery.relationship_column.parent_attribute_id IS
'The key attribute of the parent that it names.';

CREATE TABLE omd_delivery.constraint_type (
    constraint_type text NOT NULL,
    stage integer NOT NULL,
    actions text[] NOT NULL,
    default_action text,
    default_threshold text,
    has_setting boolean NOT NULL,
    may_be_disabled boolean NOT NULL,
    CONSTRAINT ck_constraint_type_stage CHECK (stage = ANY(ARRAY[1, 2])),
    CONSTRAINT ck_constraint_type_actions CHECK (actions <@ ARRAY['S'::text, 'E'::text, 'N'::text]),
    CONSTRAINT ck_constraint_type_default CHECK (
        (default_action IS NULL) = (cardinality(actions) = 0)
        AND (default_action IS NULL OR (default_action = ANY(actions)))
    ),
    CONSTRAINT pk_constraint_type PRIMARY KEY (constraint_type),
    CONSTRAINT uq_constraint_type_stage UNIQUE (constraint_type, stage)
);
COMMENT ON TABLE omd_delivery.constraint_type IS
'The types of constraints, and what a setting may say of each.';
COMMENT ON COLUMN omd_delivery.constraint_type.constraint_type IS 'The type.';
COMMENT ON COLUMN omd_delivery.constraint_type.stage IS
'1: it is checked within the delivered rows. 2: together with existing rows.';
COMMENT ON COLUMN omd_delivery.constraint_type.actions IS
'The actions that it may have: S SKIP ROW, E EMPTY COLUMN, N NO ACTION.';
COMMENT ON COLUMN omd_delivery.constraint_type.default_action IS
'The action without a setting; NULL where it takes none.';
COMMENT ON COLUMN omd_delivery.constraint_type.default_threshold IS
'The threshold without a setting: a number of rows, or none; NULL: its own rule.';
COMMENT ON COLUMN omd_delivery.constraint_type.has_setting IS 'It takes a setting.';
COMMENT ON COLUMN omd_delivery.constraint_type.may_be_disabled IS 'It may be disabled.';

CREATE TABLE omd_delivery.model_constraint (
    constraint_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    entity_id integer NOT NULL,
    constraint_code text NOT NULL,
    constraint_type text NOT NULL,
    stage integer NOT NULL,
    expression text,
    spark_expression text,
    attribute_id integer,
    alternate_key_id integer,
    relationship_id integer,
    ordinal integer NOT NULL,
    is_retired boolean NOT NULL,
    CONSTRAINT pk_model_constraint PRIMARY KEY (constraint_id),
    CONSTRAINT uq_model_constraint_code UNIQUE (entity_id, constraint_code),
    CONSTRAINT fk_model_constraint_entity FOREIGN KEY (entity_id) REFERENCES omd_delivery.entity (
        entity_id
    ),
    CONSTRAINT fk_model_constraint_type FOREIGN KEY (
        constraint_type, stage
    ) REFERENCES omd_delivery.constraint_type (constraint_type, stage),
    CONSTRAINT fk_model_constraint_attribute FOREIGN KEY (
        attribute_id
    ) REFERENCES omd_delivery.attribute (attribute_id),
    CONSTRAINT fk_model_constraint_alternate_key FOREIGN KEY (
        alternate_key_id
    ) REFERENCES omd_delivery.alternate_key (alternate_key_id),
    CONSTRAINT fk_model_constraint_relationship FOREIGN KEY (
        relationship_id
    ) REFERENCES omd_delivery.relationship (relationship_id)
);
CREATE INDEX ix_model_constraint_attribute ON omd_delivery.model_constraint (attribute_id);
CREATE INDEX ix_model_constraint_alternate_key ON omd_delivery.model_constraint (alternate_key_id);
CREATE INDEX ix_model_constraint_relationship ON omd_delivery.model_constraint (relationship_id);
COMMENT ON TABLE omd_delivery.model_constraint IS
'The constraints of each entity: those that its model names, and those that follow from it.';
COMMENT ON COLUMN omd_delivery.model_constraint.constraint_id IS 'Surrogate key, stable for ever.';
COMMENT ON COLUMN omd_delivery.model_constraint.entity_id IS
'The entity whose rows are counted: the parent for child_exists.';
COMMENT ON COLUMN omd_delivery.model_constraint.constraint_code IS
'The constraint, beginning with the entity: flights.plausible.';
COMMENT ON COLUMN omd_delivery.model_constraint.constraint_type IS 'Its type.';
COMMENT ON COLUMN omd_delivery.model_constraint.stage IS 'The stage in which it is checked.';
COMMENT ON COLUMN omd_delivery.model_constraint.expression IS
'The check of a value or record constraint, the query of a set constraint; NULL for the others.';
COMMENT ON COLUMN omd_delivery.model_constraint.spark_expression IS
'The check in the words of Spark, with the meaning that it has in PostgreSQL; NULL for others.';
COMMENT ON COLUMN omd_delivery.model_constraint.attribute_id IS
'The attribute that it is about: datatype, mandatory, enumeration, value; NULL for the others.';
COMMENT ON COLUMN omd_delivery.model_constraint.alternate_key_id IS
'The alternate key that it is about; NULL for the others.';
COMMENT ON COLUMN omd_delivery.model_constraint.relationship_id IS
'The relationship that it is about: parent_exists, child_exists; NULL for the others.';
COMMENT ON COLUMN omd_delivery.model_constraint.ordinal IS
'Its place among the constraints of the entity.';
COMMENT ON COLUMN omd_delivery.model_constraint.is_retired IS 'The model has it no longer.';

CREATE TABLE omd_delivery.constraint_setting (
    constraint_id integer NOT NULL,
    setting jsonb NOT NULL,
    CONSTRAINT pk_constraint_setting PRIMARY KEY (constraint_id),
    CONSTRAINT fk_constraint_setting_constraint FOREIGN KEY (
        constraint_id
    ) REFERENCES omd_delivery.model_constraint (constraint_id)
);
COMMENT ON TABLE omd_delivery.constraint_setting IS
'What the model sets for its constraints; an agreement may override it, field by field.';
COMMENT ON COLUMN omd_delivery.constraint_setting.constraint_id IS 'The constraint.';
COMMENT ON COLUMN omd_delivery.constraint_setting.setting IS
'The fields that are set: action (S, E, N), threshold (a number of rows, or none), '
'threshold_percent, warn, warn_percent, enabled.';

CREATE TABLE omd_delivery.tenant (
    tenant_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
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
    agreement_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
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
    inactive_indicator text NOT NULL DEFAULT 'N'::text,
    staging_schema text NOT NULL GENERATED ALWAYS AS ('stg_'::text || agreement_code) STORED,
    batch_code text NOT NULL GENERATED ALWAYS AS ('delivery.'::text || agreement_code) STORED,
    arrival jsonb,
    CONSTRAINT ck_agreement_code CHECK (agreement_code ~ '^[a-z][a-z0-9_]{0,40}$'::text),
    CONSTRAINT ck_agreement_layer CHECK (layer_code IN ('LVL', 'GDAL', 'EXPORT')),
    CONSTRAINT ck_agreement_completeness CHECK (completeness IN ('PARTIAL', 'COMPLETE')),
    CONSTRAINT ck_agreement_dates CHECK (effective_from <= effective_to),
    CONSTRAINT ck_agreement_inactive CHECK (inactive_indicator IN ('Y', 'N')),
    CONSTRAINT pk_agreement PRIMARY KEY (agreement_id),
    CONSTRAINT uq_agreement_code UNIQUE (agreement_code),
    CONSTRAINT fk_agreement_tenant FOREIGN KEY (tenant_id) REFERENCES omd_delivery.tenant (
        tenant_id
    ),
    CONSTRAINT fk_agreement_interface FOREIGN KEY (
        interface_id
    ) REFERENCES omd_delivery.interface (interface_id)
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
'The options: allow_symbolic_links, csv, export, include_existing, lines, '
'max_concurrent_entities, max_sample_size.';
COMMENT ON COLUMN omd_delivery.agreement.inactive_indicator IS 'Y refuses new deliveries.';
COMMENT ON COLUMN omd_delivery.agreement.staging_schema IS 'The schema of its staging tables.';
COMMENT ON COLUMN omd_delivery.agreement.batch_code IS 'The Batch as which its deliveries run.';
COMMENT ON COLUMN omd_delivery.agreement.arrival IS
'Where its deliveries arrive as folders: location, folder, zone, ready, then, loads, every, as '
'far as they were given; NULL: nowhere.';

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
    CONSTRAINT fk_delivery_transition_from FOREIGN KEY (
        layer_code, from_status
    ) REFERENCES omd_delivery.delivery_status (layer_code, delivery_status),
    CONSTRAINT fk_delivery_transition_to FOREIGN KEY (
        layer_code, to_status
    ) REFERENCES omd_delivery.delivery_status (layer_code, delivery_status)
);
COMMENT ON TABLE omd_delivery.delivery_transition IS 'The only changes of status that there are.';
COMMENT ON COLUMN omd_delivery.delivery_transition.layer_code IS 'The layer.';
COMMENT ON COLUMN omd_delivery.delivery_transition.from_status IS 'The status before.';
COMMENT ON COLUMN omd_delivery.delivery_transition.to_status IS 'The status after.';
COMMENT ON COLUMN omd_delivery.delivery_transition.event IS 'The routine that makes the change.';

CREATE TABLE omd_delivery.delivery (
    delivery_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
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
    delete_type text NOT NULL DEFAULT 'LOGICAL'::text,
    include_existing boolean NOT NULL DEFAULT TRUE,
    is_dry_run boolean NOT NULL DEFAULT FALSE,
    context jsonb NOT NULL DEFAULT '{}'::jsonb,
    message jsonb,
    options jsonb NOT NULL DEFAULT '{}'::jsonb,
    reasons jsonb NOT NULL DEFAULT '[]'::jsonb,
    created_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    status_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by text NOT NULL DEFAULT session_user,
    purged_datetime timestamptz,
    CONSTRAINT ck_delivery_delete_type CHECK (delete_type IN ('LOGICAL', 'PHYSICAL')),
    CONSTRAINT ck_delivery_verdict CHECK (
        verdict IN ('ACCEPTED', 'ACCEPTED WITH FINDINGS', 'REJECTED')
    ),
    CONSTRAINT ck_delivery_snapshot CHECK (
        layer_code <> 'LVL'::text OR snapshot_datetime IS NOT NULL
    ),
    CONSTRAINT pk_delivery PRIMARY KEY (delivery_id),
    CONSTRAINT fk_delivery_agreement FOREIGN KEY (agreement_id) REFERENCES omd_delivery.agreement (
        agreement_id
    ),
    CONSTRAINT fk_delivery_interface FOREIGN KEY (interface_id) REFERENCES omd_delivery.interface (
        interface_id
    ),
    CONSTRAINT fk_delivery_status FOREIGN KEY (
        layer_code, delivery_status
    ) REFERENCES omd_delivery.delivery_status (layer_code, delivery_status)
);
CREATE INDEX ix_delivery_agreement ON omd_delivery.delivery (agreement_id, delivery_id);
CREATE INDEX ix_delivery_unfinished ON omd_delivery.delivery (interface_id, delivery_id) WHERE (
    (layer_code = 'LVL'::text)
    AND (
        delivery_status
        = ANY(ARRAY['RECEIVED'::text, 'LOADED'::text, 'VALIDATED'::text, 'ACCEPTED'::text])
    )
);
CREATE INDEX ix_delivery_purge ON omd_delivery.delivery (status_datetime, delivery_id) WHERE (
    purged_datetime IS NULL
);
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
    delivery_event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    delivery_id bigint NOT NULL,
    from_status text,
    to_status text NOT NULL,
    event text NOT NULL,
    attempt integer NOT NULL,
    reason text,
    editor text NOT NULL,
    event_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_delivery_event PRIMARY KEY (delivery_event_id),
    CONSTRAINT fk_delivery_event_delivery FOREIGN KEY (
        delivery_id
    ) REFERENCES omd_delivery.delivery (delivery_id)
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
    CONSTRAINT ck_delivery_entity_load CHECK (load_type IN ('FULL', 'DELTA')),
    CONSTRAINT ck_delivery_entity_context CHECK (
        context_type IS NULL OR (context_type IN ('ALL', 'ROWS')) AND load_type = 'FULL'::text
    ),
    CONSTRAINT ck_delivery_entity_rows CHECK (rows_announced >= 0),
    CONSTRAINT pk_delivery_entity PRIMARY KEY (delivery_id, entity_id),
    CONSTRAINT fk_delivery_entity_delivery FOREIGN KEY (
        delivery_id
    ) REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT fk_delivery_entity_entity FOREIGN KEY (entity_id) REFERENCES omd_delivery.entity (
        entity_id
    )
);
CREATE INDEX ix_delivery_entity_entity ON omd_delivery.delivery_entity (entity_id);
CREATE INDEX ix_delivery_entity_instance ON omd_delivery.delivery_entity (module_instance_id);
CREATE INDEX ix_delivery_entity_former ON omd_delivery.delivery_entity (former_delivery_id) WHERE (
    former_delivery_id IS NOT NULL
);
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
    findings jsonb NOT NULL DEFAULT '{}'::jsonb,
    measured_datetime timestamptz,
    CONSTRAINT pk_entity_result PRIMARY KEY (delivery_id, attempt, stage, entity_id),
    CONSTRAINT fk_entity_result_delivery FOREIGN KEY (
        delivery_id
    ) REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT fk_entity_result_entity FOREIGN KEY (entity_id) REFERENCES omd_delivery.entity (
        entity_id
    )
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
    CONSTRAINT fk_constraint_result_delivery FOREIGN KEY (
        delivery_id
    ) REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT fk_constraint_result_constraint FOREIGN KEY (
        constraint_id
    ) REFERENCES omd_delivery.model_constraint (constraint_id)
);
CREATE INDEX ix_constraint_result_constraint ON omd_delivery.constraint_result (constraint_id);
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
    CONSTRAINT fk_stage_result_delivery FOREIGN KEY (
        delivery_id
    ) REFERENCES omd_delivery.delivery (delivery_id)
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
    sample_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    delivery_id bigint NOT NULL,
    attempt integer NOT NULL,
    entity_id integer NOT NULL,
    record_key jsonb,
    origin text NOT NULL,
    constraint_codes text[] NOT NULL,
    is_skipped boolean NOT NULL,
    raw jsonb,
    staged_from text,
    CONSTRAINT ck_sample_origin CHECK (origin IN ('DELIVERED', 'EXISTING')),
    CONSTRAINT pk_sample PRIMARY KEY (sample_id),
    CONSTRAINT fk_sample_delivery FOREIGN KEY (delivery_id) REFERENCES omd_delivery.delivery (
        delivery_id
    ),
    CONSTRAINT fk_sample_entity FOREIGN KEY (entity_id) REFERENCES omd_delivery.entity (entity_id)
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
    CONSTRAINT fk_high_water_mark_entity FOREIGN KEY (entity_id) REFERENCES omd_delivery.entity (
        entity_id
    ),
    CONSTRAINT fk_high_water_mark_delivery FOREIGN KEY (
        delivery_id
    ) REFERENCES omd_delivery.delivery (delivery_id)
);
CREATE INDEX ix_high_water_mark_delivery ON omd_delivery.high_water_mark (delivery_id);
COMMENT ON TABLE omd_delivery.high_water_mark IS
'Up to when each entity has been delivered; later deliveries must be later.';
COMMENT ON COLUMN omd_delivery.high_water_mark.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_delivery.high_water_mark.snapshot_datetime IS 'The newest T.';
COMMENT ON COLUMN omd_delivery.high_water_mark.delivery_id IS
'The delivery that set it; NULL: the facts did.';

CREATE TABLE omd_delivery.delta_queue (
    queue_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    delivery_id bigint NOT NULL,
    interface_id integer NOT NULL,
    snapshot_datetime timestamptz NOT NULL,
    delete_type text NOT NULL DEFAULT 'LOGICAL'::text,
    queue_status text NOT NULL DEFAULT 'QUEUED'::text,
    entity_ids integer[] NOT NULL DEFAULT '{}'::integer[],
    delivered_entity_ids integer[] NOT NULL DEFAULT '{}'::integer[],
    row_counts jsonb NOT NULL DEFAULT '{}'::jsonb,
    model_version integer NOT NULL DEFAULT 1,
    queued_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_datetime timestamptz,
    finished_datetime timestamptz,
    module_instance_id bigint,
    CONSTRAINT ck_delta_queue_status CHECK (queue_status IN ('QUEUED', 'LOADING', 'PERSISTED')),
    CONSTRAINT ck_delta_queue_delete_type CHECK (delete_type IN ('LOGICAL', 'PHYSICAL')),
    CONSTRAINT pk_delta_queue PRIMARY KEY (queue_id),
    CONSTRAINT uq_delta_queue_delivery UNIQUE (delivery_id),
    CONSTRAINT fk_delta_queue_delivery FOREIGN KEY (delivery_id) REFERENCES omd_delivery.delivery (
        delivery_id
    ),
    CONSTRAINT fk_delta_queue_interface FOREIGN KEY (
        interface_id
    ) REFERENCES omd_delivery.interface (interface_id)
);
CREATE INDEX ix_delta_queue_interface ON omd_delivery.delta_queue (interface_id, queue_id);
CREATE INDEX ix_delta_queue_open ON omd_delivery.delta_queue (interface_id, queue_id) WHERE (
    queue_status <> 'PERSISTED'::text
);
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
    removal_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    delivery_id bigint NOT NULL,
    entity_id integer NOT NULL,
    module_instance_id bigint,
    layer text NOT NULL,
    table_name text NOT NULL,
    key_count bigint NOT NULL,
    row_count bigint NOT NULL,
    removed_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT ck_removal_layer CHECK (
        layer IN ('LVL', 'DELTA', 'STAGING', 'SAMPLE', 'ANCHOR', 'CONTEXT')
    ),
    CONSTRAINT ck_removal_counts CHECK (key_count >= 0 AND row_count >= 0),
    CONSTRAINT pk_removal PRIMARY KEY (removal_id),
    CONSTRAINT fk_removal_delivery FOREIGN KEY (delivery_id) REFERENCES omd_delivery.delivery (
        delivery_id
    ),
    CONSTRAINT fk_removal_entity FOREIGN KEY (entity_id) REFERENCES omd_delivery.entity (entity_id)
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

CREATE TABLE omd_delivery.agreement_listener (
    layer_code text NOT NULL,
    routine text NOT NULL,
    CONSTRAINT pk_agreement_listener PRIMARY KEY (layer_code)
);
COMMENT ON TABLE omd_delivery.agreement_listener IS
'Layers whose agreements belong to another room. The room enters its routine when it is '
'installed.';
COMMENT ON COLUMN omd_delivery.agreement_listener.layer_code IS 'The layer of the agreements.';
COMMENT ON COLUMN omd_delivery.agreement_listener.routine IS
'A function (interface_id, agreement code, layer) that makes what such an agreement needs.';

CREATE TABLE omd_delivery.arrival_location (
    agreement_id integer NOT NULL,
    looked_datetime timestamptz,
    reported_datetime timestamptz,
    problem text,
    problem_datetime timestamptz,
    CONSTRAINT pk_arrival_location PRIMARY KEY (agreement_id),
    CONSTRAINT fk_arrival_location_agreement FOREIGN KEY (
        agreement_id
    ) REFERENCES omd_delivery.agreement (agreement_id)
);
COMMENT ON TABLE omd_delivery.arrival_location IS
'The looks at the location of each agreement that has one. Its row is the lock of the arrivals of '
'the agreement; whoever holds the interface too has taken that before.';
COMMENT ON COLUMN omd_delivery.arrival_location.agreement_id IS 'The agreement.';
COMMENT ON COLUMN omd_delivery.arrival_location.looked_datetime IS
'When somebody began to look there last; NULL: nobody has.';
COMMENT ON COLUMN omd_delivery.arrival_location.reported_datetime IS
'When somebody said last what was there; NULL: nobody has.';
COMMENT ON COLUMN omd_delivery.arrival_location.problem IS
'Why the last look failed; NULL: it did not.';
COMMENT ON COLUMN omd_delivery.arrival_location.problem_datetime IS
'Since when looks have failed; NULL: the last one did not.';

CREATE TABLE omd_delivery.arrival (
    arrival_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    agreement_id integer NOT NULL,
    folder text NOT NULL,
    snapshot_datetime timestamptz,
    arrival_status text NOT NULL,
    fingerprint text,
    files bigint,
    bytes bigint,
    found_datetime timestamptz,
    changed_datetime timestamptz NOT NULL,
    delivery_id bigint,
    problem text,
    entities text[],
    seen_fingerprint text,
    refused_fingerprint text,
    moved_to text,
    CONSTRAINT ck_arrival_status CHECK (
        arrival_status IN ('UNFIT', 'INCOMPLETE', 'FOUND', 'TAKEN', 'DONE', 'REFUSED', 'CHANGED')
    ),
    CONSTRAINT ck_arrival_taken CHECK (arrival_status <> 'TAKEN'::text OR delivery_id IS NOT NULL),
    CONSTRAINT ck_arrival_found CHECK (
        arrival_status <> 'FOUND'::text
        OR snapshot_datetime IS NOT NULL AND fingerprint IS NOT NULL AND found_datetime IS NOT NULL
    ),
    CONSTRAINT pk_arrival PRIMARY KEY (arrival_id),
    CONSTRAINT uq_arrival_folder UNIQUE (agreement_id, folder),
    CONSTRAINT uq_arrival_delivery UNIQUE (delivery_id),
    CONSTRAINT fk_arrival_agreement FOREIGN KEY (agreement_id) REFERENCES omd_delivery.agreement (
        agreement_id
    ),
    CONSTRAINT fk_arrival_delivery FOREIGN KEY (delivery_id) REFERENCES omd_delivery.delivery (
        delivery_id
    )
);
CREATE INDEX ix_arrival_oldest ON omd_delivery.arrival (
    agreement_id, arrival_status, snapshot_datetime, arrival_id
);
COMMENT ON TABLE omd_delivery.arrival IS
'The folders that were seen at the locations of agreements, and what became of each.';
COMMENT ON COLUMN omd_delivery.arrival.arrival_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_delivery.arrival.agreement_id IS 'The agreement.';
COMMENT ON COLUMN omd_delivery.arrival.folder IS 'The name of the folder in the location.';
COMMENT ON COLUMN omd_delivery.arrival.snapshot_datetime IS
'The time T that its name gives; NULL: it gives none.';
COMMENT ON COLUMN omd_delivery.arrival.arrival_status IS
'UNFIT: it can''t be a delivery. INCOMPLETE: it is not ready. FOUND: it may be delivered. TAKEN: '
'it is being delivered. DONE: it was accepted. REFUSED: it came to another end. CHANGED: it was '
'taken, and has another content now.';
COMMENT ON COLUMN omd_delivery.arrival.fingerprint IS
'The SHA-256 of path, bytes and time of change of its files: as it was when it was taken, before '
'that as it was seen last; NULL: its files were not seen.';
COMMENT ON COLUMN omd_delivery.arrival.files IS
'How many files the fingerprint covers; NULL: they were not seen.';
COMMENT ON COLUMN omd_delivery.arrival.bytes IS 'Their bytes; NULL: they were not seen.';
COMMENT ON COLUMN omd_delivery.arrival.found_datetime IS
'When it became FOUND last; NULL: it never did.';
COMMENT ON COLUMN omd_delivery.arrival.changed_datetime IS
'When its content was first seen as it is now.';
COMMENT ON COLUMN omd_delivery.arrival.delivery_id IS
'The newest delivery that was made of it; NULL: none was.';
COMMENT ON COLUMN omd_delivery.arrival.problem IS
'Why it is UNFIT, INCOMPLETE, REFUSED or CHANGED, or was not moved; NULL: nothing is wrong.';
COMMENT ON COLUMN omd_delivery.arrival.entities IS
'The entities of which it has files, by their names; NULL: its files were not seen.';
COMMENT ON COLUMN omd_delivery.arrival.seen_fingerprint IS
'The fingerprint as it was seen last; NULL: its files were not seen.';
COMMENT ON COLUMN omd_delivery.arrival.refused_fingerprint IS
'The fingerprint of the content that was refused last; NULL: none was. Another content is found '
'again.';
COMMENT ON COLUMN omd_delivery.arrival.moved_to IS
'The path to which it was moved when it was done, from its location; NULL: it was not moved.';

CREATE TABLE omd_delivery.delivery_file (
    delivery_id bigint NOT NULL,
    entity_id integer NOT NULL,
    file_no integer NOT NULL,
    uri text NOT NULL,
    bytes bigint NOT NULL,
    modified_datetime timestamptz,
    root text NOT NULL,
    CONSTRAINT ck_delivery_file_no CHECK (file_no > 0),
    CONSTRAINT ck_delivery_file_bytes CHECK (bytes >= 0),
    CONSTRAINT pk_delivery_file PRIMARY KEY (delivery_id, entity_id, file_no),
    CONSTRAINT fk_delivery_file_delivery FOREIGN KEY (
        delivery_id
    ) REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT fk_delivery_file_entity FOREIGN KEY (entity_id) REFERENCES omd_delivery.entity (
        entity_id
    )
);
CREATE INDEX ix_delivery_file_entity ON omd_delivery.delivery_file (entity_id);
COMMENT ON TABLE omd_delivery.delivery_file IS
'The files of each delivery, as staging listed them: a row per file and entity.';
COMMENT ON COLUMN omd_delivery.delivery_file.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_delivery.delivery_file.entity_id IS 'The entity whose rows it has.';
COMMENT ON COLUMN omd_delivery.delivery_file.file_no IS 'Its number among them, from 1.';
COMMENT ON COLUMN omd_delivery.delivery_file.uri IS
'Where it is: where staging found it, or where its folder was moved after a good end.';
COMMENT ON COLUMN omd_delivery.delivery_file.bytes IS 'How large it was.';
COMMENT ON COLUMN omd_delivery.delivery_file.modified_datetime IS
'When it had been written, to the millisecond; NULL: its file system does not say.';
COMMENT ON COLUMN omd_delivery.delivery_file.root IS
'What was handed over: the file, or the folder that it is in. It moves with uri.';
