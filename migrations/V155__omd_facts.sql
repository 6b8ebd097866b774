-- The tables of omd_facts in 1.0, with which a new database begins. tools/baseline.py has
-- written them from the catalogue that the migrations of before_1_0 lead to. Applied once.

CREATE SCHEMA omd_facts;
COMMENT ON SCHEMA omd_facts IS
'Facts: how accepted facts are stored, read as of one moment, and handed out.';

CREATE TABLE omd_facts.interface (
    interface_id integer NOT NULL,
    interface_code text NOT NULL,
    model_version integer NOT NULL,
    module_id integer,
    traveling_now timestamptz,
    is_indexed boolean NOT NULL DEFAULT FALSE,
    writer_transaction xid8,
    writer_delivery_id bigint,
    writer_instance_id bigint,
    made_entity_id integer,
    deployed_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    writer_terms jsonb,
    writer_change_id bigint,
    purged_change_id bigint NOT NULL DEFAULT 0,
    CONSTRAINT pk_interface PRIMARY KEY (interface_id),
    CONSTRAINT uq_interface_code UNIQUE (interface_code),
    CONSTRAINT fk_interface_interface FOREIGN KEY (
        interface_id
    ) REFERENCES omd_delivery.interface (interface_id)
);
COMMENT ON TABLE omd_facts.interface IS
'The interfaces whose facts are deployed. Whoever changes facts of one holds its row.';
COMMENT ON COLUMN omd_facts.interface.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_facts.interface.interface_code IS 'Its code.';
COMMENT ON COLUMN omd_facts.interface.model_version IS
'The version of the model that is deployed here.';
COMMENT ON COLUMN omd_facts.interface.module_id IS
'The Module facts.<interface>, whose runs load it; NULL while it is being deployed.';
COMMENT ON COLUMN omd_facts.interface.traveling_now IS
'The greatest transaction time that is persisted; NULL before the first load.';
COMMENT ON COLUMN omd_facts.interface.is_indexed IS
'Rows are written through its views, so all of its tables have all indexes, those of links too.';
COMMENT ON COLUMN omd_facts.interface.writer_transaction IS
'The newest transaction that wrote through a view, whose time is the traveling now while it is at '
'work; NULL before the first.';
COMMENT ON COLUMN omd_facts.interface.writer_delivery_id IS
'The delivery of that transaction; NULL before the first.';
COMMENT ON COLUMN omd_facts.interface.writer_instance_id IS
'The Module Instance of that delivery; NULL before the first.';
COMMENT ON COLUMN omd_facts.interface.made_entity_id IS
'The supertype that the transaction makes for a subtype at this moment, and that lacks mandatory '
'attributes therefore; NULL: none.';
COMMENT ON COLUMN omd_facts.interface.deployed_datetime IS 'When it was last deployed.';
COMMENT ON COLUMN omd_facts.interface.writer_terms IS
'What the agreement of that delivery names: its code, entities, context, and the relationships '
'that filter; NULL: it names neither entities nor a context.';
COMMENT ON COLUMN omd_facts.interface.writer_change_id IS
'The change of the newest transaction that wrote through a view; NULL: no entity keeps changes.';
COMMENT ON COLUMN omd_facts.interface.purged_change_id IS
'The keys of this change and of all before it are purged; 0: none are.';

CREATE TABLE omd_facts.entity (
    entity_id integer NOT NULL,
    interface_id integer NOT NULL,
    entity_code text NOT NULL,
    entity_kind text NOT NULL,
    anchor_entity_id integer NOT NULL,
    anchor_table text NOT NULL,
    supertype_id integer,
    generalization_code text,
    key_root_code text,
    load_order integer NOT NULL,
    has_removals boolean NOT NULL DEFAULT FALSE,
    keeps_changes boolean NOT NULL DEFAULT FALSE,
    changes_from bigint,
    CONSTRAINT ck_entity_kind CHECK (entity_kind IN ('INDEPENDENT', 'DEPENDENT', 'CONTEXT')),
    CONSTRAINT pk_entity PRIMARY KEY (entity_id),
    CONSTRAINT fk_entity_interface FOREIGN KEY (interface_id) REFERENCES omd_facts.interface (
        interface_id
    ),
    CONSTRAINT fk_entity_anchor FOREIGN KEY (anchor_entity_id) REFERENCES omd_facts.entity (
        entity_id
    ) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT fk_entity_supertype FOREIGN KEY (supertype_id) REFERENCES omd_facts.entity (
        entity_id
    ) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ix_entity_interface ON omd_facts.entity (interface_id);
CREATE INDEX ix_entity_anchor ON omd_facts.entity (anchor_entity_id);
CREATE INDEX ix_entity_supertype ON omd_facts.entity (supertype_id);
COMMENT ON TABLE omd_facts.entity IS 'The entities, and the anchor that each has.';
COMMENT ON COLUMN omd_facts.entity.entity_id IS 'The entity, as in omd_delivery.';
COMMENT ON COLUMN omd_facts.entity.interface_id IS 'Its interface.';
COMMENT ON COLUMN omd_facts.entity.entity_code IS 'Its code.';
COMMENT ON COLUMN omd_facts.entity.entity_kind IS
'INDEPENDENT or DEPENDENT: it has an anchor. CONTEXT: it is a context of its parent.';
COMMENT ON COLUMN omd_facts.entity.anchor_entity_id IS
'The entity whose anchor its rows belong to: itself, or the parent of a CONTEXT.';
COMMENT ON COLUMN omd_facts.entity.anchor_table IS 'The table of that anchor.';
COMMENT ON COLUMN omd_facts.entity.supertype_id IS 'The supertype; NULL: it is no subtype.';
COMMENT ON COLUMN omd_facts.entity.generalization_code IS
'The generalization that its anchor belongs to; NULL: none.';
COMMENT ON COLUMN omd_facts.entity.key_root_code IS
'The key root that its anchor belongs to; NULL: none.';
COMMENT ON COLUMN omd_facts.entity.load_order IS
'Its place in a load: parents and supertypes come first.';
COMMENT ON COLUMN omd_facts.entity.has_removals IS
'Keys of its anchor have been removed physically.';
COMMENT ON COLUMN omd_facts.entity.keeps_changes IS
'The keys that a change touches are kept, so that readers go by changes.';
COMMENT ON COLUMN omd_facts.entity.changes_from IS
'The change from which on they are; NULL: they are not kept yet.';

CREATE TABLE omd_facts.context (
    context_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    entity_id integer NOT NULL,
    context_code text NOT NULL,
    context_kind text NOT NULL,
    context_table text NOT NULL,
    valid_end text,
    indexes jsonb NOT NULL DEFAULT '[]'::jsonb,
    CONSTRAINT ck_context_kind CHECK (
        context_kind IN ('standard', 'immutable', 'alternate_key', 'multi_active', 'bitemporal')
    ),
    CONSTRAINT pk_context PRIMARY KEY (context_id),
    CONSTRAINT uq_context_code UNIQUE (entity_id, context_code),
    CONSTRAINT fk_context_entity FOREIGN KEY (entity_id) REFERENCES omd_facts.entity (entity_id)
);
COMMENT ON TABLE omd_facts.context IS 'The contexts: what is known about the keys of an anchor.';
COMMENT ON COLUMN omd_facts.context.context_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_facts.context.entity_id IS 'The entity that feeds it.';
COMMENT ON COLUMN omd_facts.context.context_code IS
'Its name; properties carries the existence of a key.';
COMMENT ON COLUMN omd_facts.context.context_kind IS
'standard, immutable, alternate_key, multi_active or bitemporal.';
COMMENT ON COLUMN omd_facts.context.context_table IS
'Its table; the partition of open rows ends in _now, that of closed rows in _past.';
COMMENT ON COLUMN omd_facts.context.valid_end IS
'The attribute where the validity of a bitemporal row ends; NULL: the next row ends it.';
COMMENT ON COLUMN omd_facts.context.indexes IS
'The lists of attributes that are indexed on open rows.';

CREATE TABLE omd_facts.attribute (
    entity_id integer NOT NULL,
    attribute_code text NOT NULL,
    ordinal integer NOT NULL,
    data_type text NOT NULL,
    is_mandatory boolean NOT NULL,
    key_position integer,
    context_id integer,
    CONSTRAINT pk_attribute PRIMARY KEY (entity_id, attribute_code),
    CONSTRAINT fk_attribute_entity FOREIGN KEY (entity_id) REFERENCES omd_facts.entity (entity_id),
    CONSTRAINT fk_attribute_context FOREIGN KEY (context_id) REFERENCES omd_facts.context (
        context_id
    )
);
CREATE INDEX ix_attribute_context ON omd_facts.attribute (context_id);
COMMENT ON TABLE omd_facts.attribute IS 'The attributes, and where each is stored.';
COMMENT ON COLUMN omd_facts.attribute.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_facts.attribute.attribute_code IS 'The attribute, and its column.';
COMMENT ON COLUMN omd_facts.attribute.ordinal IS 'Its place in the model.';
COMMENT ON COLUMN omd_facts.attribute.data_type IS 'Its type, as format_type prints it.';
COMMENT ON COLUMN omd_facts.attribute.is_mandatory IS 'The model says that it must have a value.';
COMMENT ON COLUMN omd_facts.attribute.key_position IS
'Its place in the primary key; NULL outside of the key.';
COMMENT ON COLUMN omd_facts.attribute.context_id IS
'The context that stores it; NULL: the anchor does. A key attribute with a context is the own key '
'of a CONTEXT.';

CREATE TABLE omd_facts.link (
    entity_id integer NOT NULL,
    relationship_code text NOT NULL,
    parent_entity_id integer NOT NULL,
    context_id integer,
    child_columns text[] NOT NULL,
    CONSTRAINT pk_link PRIMARY KEY (entity_id, relationship_code),
    CONSTRAINT fk_link_entity FOREIGN KEY (entity_id) REFERENCES omd_facts.entity (entity_id),
    CONSTRAINT fk_link_parent FOREIGN KEY (parent_entity_id) REFERENCES omd_facts.entity (
        entity_id
    ),
    CONSTRAINT fk_link_context FOREIGN KEY (context_id) REFERENCES omd_facts.context (context_id)
);
CREATE INDEX ix_link_parent ON omd_facts.link (parent_entity_id);
CREATE INDEX ix_link_context ON omd_facts.link (context_id);
COMMENT ON TABLE omd_facts.link IS 'The relationships; each is a column acm_fk_<relationship>.';
COMMENT ON COLUMN omd_facts.link.entity_id IS 'The child.';
COMMENT ON COLUMN omd_facts.link.relationship_code IS 'The relationship.';
COMMENT ON COLUMN omd_facts.link.parent_entity_id IS 'The parent.';
COMMENT ON COLUMN omd_facts.link.context_id IS
'The context that stores the link. NULL: it lies in the key, and the anchor stores it; for a '
'CONTEXT it names the anchor.';
COMMENT ON COLUMN omd_facts.link.child_columns IS
'The attributes of the child, in the order of the key of the parent.';

CREATE TABLE omd_facts.entity_mark (
    entity_id integer NOT NULL,
    mark_datetime timestamptz NOT NULL,
    CONSTRAINT pk_entity_mark PRIMARY KEY (entity_id),
    CONSTRAINT fk_entity_mark_entity FOREIGN KEY (entity_id) REFERENCES omd_facts.entity (entity_id)
);
COMMENT ON TABLE omd_facts.entity_mark IS
'Up to which transaction time each entity is persisted; as of an earlier moment it never changes.';
COMMENT ON COLUMN omd_facts.entity_mark.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_facts.entity_mark.mark_datetime IS 'The transaction time.';

CREATE TABLE omd_facts.load_log (
    module_instance_id bigint NOT NULL,
    interface_id integer NOT NULL,
    queue_id bigint,
    delivery_id bigint,
    load_kind text NOT NULL,
    transaction_datetime timestamptz NOT NULL,
    entity_ids integer[] NOT NULL,
    row_counts jsonb NOT NULL,
    former_marks jsonb NOT NULL,
    former_traveling_now timestamptz,
    loaded_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    undone_by bigint,
    former_anchors jsonb NOT NULL DEFAULT '{}'::jsonb,
    CONSTRAINT ck_load_log_kind CHECK (load_kind IN ('LOAD', 'RESYNC')),
    CONSTRAINT pk_load_log PRIMARY KEY (module_instance_id),
    CONSTRAINT fk_load_log_interface FOREIGN KEY (interface_id) REFERENCES omd_facts.interface (
        interface_id
    )
);
CREATE INDEX ix_load_log_interface ON omd_facts.load_log (interface_id, module_instance_id);
CREATE INDEX ix_load_log_undone ON omd_facts.load_log (interface_id, undone_by) WHERE (
    undone_by IS NOT NULL
);
CREATE INDEX ix_load_log_standing ON omd_facts.load_log (
    interface_id, transaction_datetime
) WHERE (undone_by IS NULL);
COMMENT ON TABLE omd_facts.load_log IS 'The loads that succeeded.';
COMMENT ON COLUMN omd_facts.load_log.module_instance_id IS 'The Module Instance that loaded.';
COMMENT ON COLUMN omd_facts.load_log.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_facts.load_log.queue_id IS 'The item of the queue; NULL for RESYNC.';
COMMENT ON COLUMN omd_facts.load_log.delivery_id IS 'The delivery; NULL for RESYNC.';
COMMENT ON COLUMN omd_facts.load_log.load_kind IS 'LOAD or RESYNC.';
COMMENT ON COLUMN omd_facts.load_log.transaction_datetime IS 'T: the transaction time of its rows.';
COMMENT ON COLUMN omd_facts.load_log.entity_ids IS 'The entities whose contexts it may change.';
COMMENT ON COLUMN omd_facts.load_log.row_counts IS
'Per entity the anchors and the context rows N, A and R that it wrote, the delta rows that '
'changed nothing, and the rows that it removed.';
COMMENT ON COLUMN omd_facts.load_log.former_marks IS
'The mark of each delivered entity before it; NULL: it had none.';
COMMENT ON COLUMN omd_facts.load_log.former_traveling_now IS
'The traveling now before it; NULL for the first load.';
COMMENT ON COLUMN omd_facts.load_log.loaded_datetime IS 'When it was loaded.';
COMMENT ON COLUMN omd_facts.load_log.undone_by IS
'The Module Instance that undid it; NULL: it stands.';
COMMENT ON COLUMN omd_facts.load_log.former_anchors IS
'Anchors that had been removed physically, as they were before it: per entity and acm_id the '
'latest start, the last creation, and who removed it.';

CREATE TABLE omd_facts.gdal_delivery (
    delivery_id bigint NOT NULL,
    interface_id integer NOT NULL,
    agreement_code text NOT NULL,
    module_instance_id bigint NOT NULL,
    is_physical_delete_allowed boolean NOT NULL,
    opened_by text NOT NULL DEFAULT session_user,
    opened_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    closed_datetime timestamptz,
    CONSTRAINT pk_gdal_delivery PRIMARY KEY (delivery_id),
    CONSTRAINT fk_gdal_delivery_interface FOREIGN KEY (
        interface_id
    ) REFERENCES omd_facts.interface (interface_id)
);
CREATE INDEX ix_gdal_delivery_interface ON omd_facts.gdal_delivery (interface_id);
CREATE UNIQUE INDEX uq_gdal_delivery_open ON omd_facts.gdal_delivery (agreement_code) WHERE (
    closed_datetime IS NULL
);
CREATE INDEX ix_gdal_delivery_run ON omd_facts.gdal_delivery (module_instance_id);
CREATE INDEX ix_gdal_delivery_instance ON omd_facts.gdal_delivery (module_instance_id);
COMMENT ON TABLE omd_facts.gdal_delivery IS
'The deliveries under which rows are written through views.';
COMMENT ON COLUMN omd_facts.gdal_delivery.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_facts.gdal_delivery.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_facts.gdal_delivery.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_facts.gdal_delivery.module_instance_id IS
'Its Module Instance, which is on every row that is written under it.';
COMMENT ON COLUMN omd_facts.gdal_delivery.is_physical_delete_allowed IS
'A session may delete physically under it.';
COMMENT ON COLUMN omd_facts.gdal_delivery.opened_by IS 'Who opened it.';
COMMENT ON COLUMN omd_facts.gdal_delivery.opened_datetime IS 'When it was opened.';
COMMENT ON COLUMN omd_facts.gdal_delivery.closed_datetime IS
'When it was closed; NULL: it is open.';

CREATE TABLE omd_facts.transaction_log (
    interface_id integer NOT NULL,
    transaction_datetime timestamptz NOT NULL,
    delivery_id bigint NOT NULL,
    written_by text NOT NULL DEFAULT session_user,
    CONSTRAINT pk_transaction_log PRIMARY KEY (interface_id, transaction_datetime),
    CONSTRAINT fk_transaction_log_interface FOREIGN KEY (
        interface_id
    ) REFERENCES omd_facts.interface (interface_id),
    CONSTRAINT fk_transaction_log_delivery FOREIGN KEY (
        delivery_id
    ) REFERENCES omd_facts.gdal_delivery (delivery_id)
);
CREATE INDEX ix_transaction_log_delivery ON omd_facts.transaction_log (delivery_id);
COMMENT ON TABLE omd_facts.transaction_log IS 'The transactions that wrote through views.';
COMMENT ON COLUMN omd_facts.transaction_log.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_facts.transaction_log.transaction_datetime IS
'T: the transaction time of its rows.';
COMMENT ON COLUMN omd_facts.transaction_log.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_facts.transaction_log.written_by IS 'The user of the session.';

CREATE TABLE omd_facts.control (
    entity_id integer NOT NULL,
    control_code text NOT NULL,
    operation text NOT NULL,
    timing text NOT NULL,
    function_name text NOT NULL,
    sequence integer NOT NULL,
    inactive_indicator text NOT NULL,
    CONSTRAINT ck_control_operation CHECK (operation IN ('INSERT', 'UPDATE', 'DELETE')),
    CONSTRAINT ck_control_timing CHECK (timing IN ('BEFORE', 'AFTER')),
    CONSTRAINT ck_control_inactive CHECK (inactive_indicator IN ('Y', 'N')),
    CONSTRAINT pk_control PRIMARY KEY (entity_id, control_code),
    CONSTRAINT fk_control_entity FOREIGN KEY (entity_id) REFERENCES omd_facts.entity (entity_id)
);
COMMENT ON TABLE omd_facts.control IS
'The controls of rows that are written through views: functions that refuse or complete them.';
COMMENT ON COLUMN omd_facts.control.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_facts.control.control_code IS 'The control.';
COMMENT ON COLUMN omd_facts.control.operation IS 'INSERT, UPDATE or DELETE.';
COMMENT ON COLUMN omd_facts.control.timing IS 'BEFORE or AFTER the other checks.';
COMMENT ON COLUMN omd_facts.control.function_name IS 'The function, quoted.';
COMMENT ON COLUMN omd_facts.control.sequence IS 'Its place among the controls.';
COMMENT ON COLUMN omd_facts.control.inactive_indicator IS 'Y: it is not called.';

CREATE TABLE omd_facts.export (
    delivery_id bigint NOT NULL,
    interface_id integer NOT NULL,
    agreement_code text NOT NULL,
    target_uri text NOT NULL,
    export_mode text NOT NULL,
    as_of timestamptz NOT NULL,
    options jsonb NOT NULL,
    newest_instance_id bigint,
    attempt integer NOT NULL DEFAULT 0,
    module_instance_id bigint,
    manifest jsonb,
    created_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    exported_datetime timestamptz,
    CONSTRAINT ck_export_mode CHECK (export_mode IN ('FULL', 'CHANGES')),
    CONSTRAINT pk_export PRIMARY KEY (delivery_id),
    CONSTRAINT fk_export_interface FOREIGN KEY (interface_id) REFERENCES omd_facts.interface (
        interface_id
    )
);
CREATE INDEX ix_export_interface ON omd_facts.export (interface_id);
CREATE INDEX ix_export_agreement ON omd_facts.export (agreement_code, module_instance_id);
CREATE INDEX ix_export_unfinished ON omd_facts.export (agreement_code, delivery_id) WHERE (
    exported_datetime IS NULL
);
CREATE INDEX ix_export_instance ON omd_facts.export (module_instance_id) WHERE (
    module_instance_id IS NOT NULL
);
COMMENT ON TABLE omd_facts.export IS 'The deliveries that hand facts out as files.';
COMMENT ON COLUMN omd_facts.export.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_facts.export.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_facts.export.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_facts.export.target_uri IS 'The folder under which its files go.';
COMMENT ON COLUMN omd_facts.export.export_mode IS 'FULL or CHANGES.';
COMMENT ON COLUMN omd_facts.export.as_of IS 'The moment of its rows.';
COMMENT ON COLUMN omd_facts.export.options IS
'The options: max_concurrent_entities, partitions, compression.';
COMMENT ON COLUMN omd_facts.export.newest_instance_id IS
'The newest load of the interface, or undoing of one, when it was created. What is undone later '
'was among the facts then. NULL: there was none.';
COMMENT ON COLUMN omd_facts.export.attempt IS 'How many runs of it have begun.';
COMMENT ON COLUMN omd_facts.export.module_instance_id IS
'The Module Instance of its newest run; NULL: none has begun.';
COMMENT ON COLUMN omd_facts.export.manifest IS
'What was published, as finish_export was told; NULL before.';
COMMENT ON COLUMN omd_facts.export.created_datetime IS 'When it was created.';
COMMENT ON COLUMN omd_facts.export.exported_datetime IS 'When it was finished; NULL: it is not.';

CREATE TABLE omd_facts.export_entity (
    delivery_id bigint NOT NULL,
    entity_id integer NOT NULL,
    as_of timestamptz,
    since timestamptz,
    CONSTRAINT pk_export_entity PRIMARY KEY (delivery_id, entity_id),
    CONSTRAINT fk_export_entity_export FOREIGN KEY (delivery_id) REFERENCES omd_facts.export (
        delivery_id
    ),
    CONSTRAINT fk_export_entity_entity FOREIGN KEY (entity_id) REFERENCES omd_facts.entity (
        entity_id
    )
);
CREATE INDEX ix_export_entity_entity ON omd_facts.export_entity (entity_id);
COMMENT ON TABLE omd_facts.export_entity IS 'The entities of each export.';
COMMENT ON COLUMN omd_facts.export_entity.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_facts.export_entity.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_facts.export_entity.as_of IS
'The moment of its rows: that of the export, but no later than its mark; NULL: it had no rows.';
COMMENT ON COLUMN omd_facts.export_entity.since IS
'The moment since which the newest run exports changes; NULL: it exports all rows.';

CREATE TABLE omd_facts.change (
    change_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    interface_id integer NOT NULL,
    change_kind text NOT NULL,
    change_datetime timestamptz NOT NULL,
    transaction_datetime timestamptz,
    module_instance_id bigint,
    delivery_id bigint,
    entity_ids integer[] NOT NULL DEFAULT '{}'::integer[],
    key_count bigint NOT NULL DEFAULT 0,
    key_counts jsonb NOT NULL DEFAULT '{}'::jsonb,
    undone_by_change_id bigint,
    is_recall boolean NOT NULL DEFAULT FALSE,
    CONSTRAINT ck_change_kind CHECK (change_kind IN ('LOAD', 'RESYNC', 'CRUD', 'UNDO')),
    CONSTRAINT pk_change PRIMARY KEY (change_id),
    CONSTRAINT fk_change_interface FOREIGN KEY (interface_id) REFERENCES omd_facts.interface (
        interface_id
    )
);
CREATE INDEX ix_change_interface ON omd_facts.change (interface_id, change_id);
CREATE INDEX ix_change_undone ON omd_facts.change (interface_id, undone_by_change_id) WHERE (
    undone_by_change_id IS NOT NULL
);
CREATE INDEX ix_change_run ON omd_facts.change (module_instance_id) WHERE (
    module_instance_id IS NOT NULL
);
CREATE INDEX ix_change_instance ON omd_facts.change (module_instance_id) WHERE (
    module_instance_id IS NOT NULL
);
COMMENT ON TABLE omd_facts.change IS
'The transactions that changed facts, in the order of their commits. It gets its number under the '
'row of the interface. Interfaces of which no entity keeps changes have none.';
COMMENT ON COLUMN omd_facts.change.change_id IS 'Its number; it rises in the order of commits.';
COMMENT ON COLUMN omd_facts.change.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_facts.change.change_kind IS
'LOAD, RESYNC, CRUD (writes through views) or UNDO.';
COMMENT ON COLUMN omd_facts.change.change_datetime IS
'When it was made; it rises in the order of commits.';
COMMENT ON COLUMN omd_facts.change.transaction_datetime IS
'T: the transaction time of its rows; NULL of an UNDO, and where the keys began to be kept.';
COMMENT ON COLUMN omd_facts.change.module_instance_id IS
'The Module Instance that made it; NULL where the keys began to be kept.';
COMMENT ON COLUMN omd_facts.change.delivery_id IS
'The delivery that was loaded, or under which rows were written; NULL for others.';
COMMENT ON COLUMN omd_facts.change.entity_ids IS 'The entities that it may have changed.';
COMMENT ON COLUMN omd_facts.change.key_count IS
'How many keys it touched, of entities that keep changes.';
COMMENT ON COLUMN omd_facts.change.key_counts IS 'How many of each entity.';
COMMENT ON COLUMN omd_facts.change.undone_by_change_id IS
'The UNDO that took it back; NULL: it stands.';
COMMENT ON COLUMN omd_facts.change.is_recall IS 'Whether it is the UNDO of a recall.';

CREATE TABLE omd_facts.change_key (
    change_id bigint NOT NULL,
    entity_id integer NOT NULL,
    acm_id bigint NOT NULL,
    was_there boolean NOT NULL,
    is_there boolean NOT NULL,
    undone_from bigint NOT NULL DEFAULT 0,
    CONSTRAINT pk_change_key PRIMARY KEY (entity_id, change_id, acm_id)
);
COMMENT ON TABLE omd_facts.change_key IS
'The keys of whose contexts a change wrote or removed a row.';
COMMENT ON COLUMN omd_facts.change_key.change_id IS 'The change.';
COMMENT ON COLUMN omd_facts.change_key.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_facts.change_key.acm_id IS 'The key, by its anchor.';
COMMENT ON COLUMN omd_facts.change_key.was_there IS 'The key existed before the change.';
COMMENT ON COLUMN omd_facts.change_key.is_there IS 'The key exists after the change.';
COMMENT ON COLUMN omd_facts.change_key.undone_from IS
'Of the UNDO of a recall: the first change of the key that it took back, whose key is gone; only '
'a block that begins there or later shows it. 0: every block shows it.';

CREATE TABLE omd_facts.change_slice (
    change_id bigint NOT NULL,
    entity_id integer NOT NULL,
    acm_id bigint NOT NULL,
    own_key jsonb NOT NULL,
    was_there boolean NOT NULL,
    is_there boolean NOT NULL,
    undone_from bigint NOT NULL DEFAULT 0,
    CONSTRAINT pk_change_slice PRIMARY KEY (entity_id, change_id, acm_id, own_key)
);
COMMENT ON TABLE omd_facts.change_slice IS
'The rows of an entity that is a context of another one, by anchor and own key, that a change '
'wrote or removed.';
COMMENT ON COLUMN omd_facts.change_slice.change_id IS 'The change.';
COMMENT ON COLUMN omd_facts.change_slice.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_facts.change_slice.acm_id IS 'The key, by its anchor.';
COMMENT ON COLUMN omd_facts.change_slice.own_key IS 'The own key, {attribute: value}.';
COMMENT ON COLUMN omd_facts.change_slice.was_there IS 'The row existed before the change.';
COMMENT ON COLUMN omd_facts.change_slice.is_there IS 'The row exists after the change.';
COMMENT ON COLUMN omd_facts.change_slice.undone_from IS
'Of the UNDO of a recall: the first change of the slice that it took back. 0: every block shows '
'it.';
