-- V023: delivery, first part: the registry of models. The tables of an interface are made by
-- deploy_model. Ids are stable for ever: what a model no longer has is retired. Applied once.
-- Source: i-refactory, "Logical Validation Layer".

CREATE SCHEMA omd_delivery;
COMMENT ON SCHEMA omd_delivery IS
'Delivery: was what arrived agreed and acceptable, and what has changed.';

CREATE TABLE omd_delivery.interface (
    interface_id integer GENERATED ALWAYS AS IDENTITY,
    interface_code text NOT NULL,
    model_version integer NOT NULL,
    lvl_schema text NOT NULL GENERATED ALWAYS AS ('lvl_' || interface_code) STORED,
    work_schema text NOT NULL GENERATED ALWAYS AS ('wrk_' || interface_code) STORED,
    facts jsonb,
    CONSTRAINT pk_interface PRIMARY KEY (interface_id),
    CONSTRAINT uq_interface_code UNIQUE (interface_code),
    CONSTRAINT ck_interface_code CHECK (interface_code ~ '^[a-z][a-z0-9_]{0,40}$')
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
    CONSTRAINT fk_model_version_interface FOREIGN KEY (interface_id)
    REFERENCES omd_delivery.interface (interface_id)
);
COMMENT ON TABLE omd_delivery.model_version IS 'The versions of each model, and what each changed.';
COMMENT ON COLUMN omd_delivery.model_version.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_delivery.model_version.model_version IS 'Its version, from 1.';
COMMENT ON COLUMN omd_delivery.model_version.changes IS
'What it changed: a list of {"object", "change"}.';
COMMENT ON COLUMN omd_delivery.model_version.deployed_datetime IS 'When it was deployed.';
COMMENT ON COLUMN omd_delivery.model_version.deployed_by IS 'Who deployed it.';

CREATE TABLE omd_delivery.entity (
    entity_id integer GENERATED ALWAYS AS IDENTITY,
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
    CONSTRAINT pk_entity PRIMARY KEY (entity_id),
    CONSTRAINT uq_entity_code UNIQUE (interface_id, entity_code),
    CONSTRAINT fk_entity_interface FOREIGN KEY (interface_id)
    REFERENCES omd_delivery.interface (interface_id),
    CONSTRAINT ck_entity_code CHECK (entity_code ~ '^[a-z][a-z0-9_]{0,40}$'),
    CONSTRAINT ck_entity_derived CHECK (
        is_derived = (derived_from IS NOT NULL) AND is_derived = (derived_query IS NOT NULL)
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

CREATE TABLE omd_delivery.attribute (
    attribute_id integer GENERATED ALWAYS AS IDENTITY,
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
    CONSTRAINT pk_attribute PRIMARY KEY (attribute_id),
    CONSTRAINT uq_attribute_code UNIQUE (entity_id, attribute_code),
    CONSTRAINT uq_attribute_ordinal UNIQUE (entity_id, ordinal),
    CONSTRAINT fk_attribute_entity FOREIGN KEY (entity_id)
    REFERENCES omd_delivery.entity (entity_id),
    CONSTRAINT ck_attribute_code CHECK (
        attribute_code ~ '^[a-z][a-z0-9_]{0,40}$' AND attribute_code !~ '^acm_'
    ),
    CONSTRAINT ck_attribute_key CHECK (key_position IS NULL OR NOT is_retired),
    CONSTRAINT ck_attribute_source CHECK ((source_column IS NULL) <> (computed IS NULL))
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
    alternate_key_id integer GENERATED ALWAYS AS IDENTITY,
    entity_id integer NOT NULL,
    alternate_key_code text NOT NULL,
    is_retired boolean NOT NULL,
    CONSTRAINT pk_alternate_key PRIMARY KEY (alternate_key_id),
    CONSTRAINT uq_alternate_key_code UNIQUE (entity_id, alternate_key_code),
    CONSTRAINT fk_alternate_key_entity FOREIGN KEY (entity_id)
    REFERENCES omd_delivery.entity (entity_id)
);
COMMENT ON TABLE omd_delivery.alternate_key IS
'The alternate keys: attributes that are unique together over current rows.';
COMMENT ON COLUMN omd_delivery.alternate_key.alternate_key_id IS
'Surrogate key, stable for ever.';
COMMENT ON COLUMN omd_delivery.alternate_key.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_delivery.alternate_key.alternate_key_code IS 'The alternate key.';
COMMENT ON COLUMN omd_delivery.alternate_key.is_retired IS 'The model has it no longer.';

CREATE TABLE omd_delivery.alternate_key_attribute (
    alternate_key_id integer NOT NULL,
    position integer NOT NULL,
    attribute_id integer NOT NULL,
    CONSTRAINT pk_alternate_key_attribute PRIMARY KEY (alternate_key_id, position),
    CONSTRAINT fk_alternate_key_attribute_key FOREIGN KEY (alternate_key_id)
    REFERENCES omd_delivery.alternate_key (alternate_key_id),
    CONSTRAINT fk_alternate_key_attribute_attribute FOREIGN KEY (attribute_id)
    REFERENCES omd_delivery.attribute (attribute_id)
);
CREATE INDEX ix_alternate_key_attribute ON omd_delivery.alternate_key_attribute (attribute_id);
COMMENT ON TABLE omd_delivery.alternate_key_attribute IS 'The attributes of each alternate key.';
COMMENT ON COLUMN omd_delivery.alternate_key_attribute.alternate_key_id IS 'The alternate key.';
COMMENT ON COLUMN omd_delivery.alternate_key_attribute.position IS 'The place in the key, from 1.';
COMMENT ON COLUMN omd_delivery.alternate_key_attribute.attribute_id IS 'The attribute.';

CREATE TABLE omd_delivery.relationship (
    relationship_id integer GENERATED ALWAYS AS IDENTITY,
    relationship_code text NOT NULL,
    child_entity_id integer NOT NULL,
    parent_entity_id integer NOT NULL,
    is_dependent boolean NOT NULL,
    has_context_filter boolean NOT NULL,
    is_child_required boolean NOT NULL,
    is_retired boolean NOT NULL,
    CONSTRAINT pk_relationship PRIMARY KEY (relationship_id),
    CONSTRAINT uq_relationship_code UNIQUE (child_entity_id, relationship_code),
    CONSTRAINT fk_relationship_child FOREIGN KEY (child_entity_id)
    REFERENCES omd_delivery.entity (entity_id),
    CONSTRAINT fk_relationship_parent FOREIGN KEY (parent_entity_id)
    REFERENCES omd_delivery.entity (entity_id)
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
    CONSTRAINT fk_relationship_column_relationship FOREIGN KEY (relationship_id)
    REFERENCES omd_delivery.relationship (relationship_id),
    CONSTRAINT fk_relationship_column_child FOREIGN KEY (child_attribute_id)
    REFERENCES omd_delivery.attribute (attribute_id),
    CONSTRAINT fk_relationship_column_parent FOREIGN KEY (parent_attribute_id)
    REFERENCES omd_delivery.attribute (attribute_id)
);
CREATE INDEX ix_relationship_column_child
ON omd_delivery.relationship_column (child_attribute_id);
CREATE INDEX ix_relationship_column_parent
ON omd_delivery.relationship_column (parent_attribute_id);
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
    CONSTRAINT pk_constraint_type PRIMARY KEY (constraint_type),
    CONSTRAINT uq_constraint_type_stage UNIQUE (constraint_type, stage),
    CONSTRAINT ck_constraint_type_stage CHECK (stage IN (1, 2)),
    CONSTRAINT ck_constraint_type_actions CHECK (actions <@ ARRAY['S', 'E', 'N']),
    CONSTRAINT ck_constraint_type_default CHECK (
        (default_action IS NULL) = (cardinality(actions) = 0)
        AND (default_action IS NULL OR default_action = any(actions))
    )
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
    constraint_id integer GENERATED ALWAYS AS IDENTITY,
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
    CONSTRAINT fk_model_constraint_entity FOREIGN KEY (entity_id)
    REFERENCES omd_delivery.entity (entity_id),
    CONSTRAINT fk_model_constraint_type FOREIGN KEY (constraint_type, stage)
    REFERENCES omd_delivery.constraint_type (constraint_type, stage),
    CONSTRAINT fk_model_constraint_attribute FOREIGN KEY (attribute_id)
    REFERENCES omd_delivery.attribute (attribute_id),
    CONSTRAINT fk_model_constraint_alternate_key FOREIGN KEY (alternate_key_id)
    REFERENCES omd_delivery.alternate_key (alternate_key_id),
    CONSTRAINT fk_model_constraint_relationship FOREIGN KEY (relationship_id)
    REFERENCES omd_delivery.relationship (relationship_id)
);
CREATE INDEX ix_model_constraint_attribute ON omd_delivery.model_constraint (attribute_id);
CREATE INDEX ix_model_constraint_alternate_key
ON omd_delivery.model_constraint (alternate_key_id);
CREATE INDEX ix_model_constraint_relationship ON omd_delivery.model_constraint (relationship_id);
COMMENT ON TABLE omd_delivery.model_constraint IS
'The constraints of each entity: those that its model names, and those that follow from it.';
COMMENT ON COLUMN omd_delivery.model_constraint.constraint_id IS
'Surrogate key, stable for ever.';
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
    CONSTRAINT fk_constraint_setting_constraint FOREIGN KEY (constraint_id)
    REFERENCES omd_delivery.model_constraint (constraint_id)
);
COMMENT ON TABLE omd_delivery.constraint_setting IS
'What the model sets for its constraints; an agreement may override it, field by field.';
COMMENT ON COLUMN omd_delivery.constraint_setting.constraint_id IS 'The constraint.';
COMMENT ON COLUMN omd_delivery.constraint_setting.setting IS
'The fields that are set: action (S, E, N), threshold (a number of rows, or none), '
'threshold_percent, warn, warn_percent, enabled.';
