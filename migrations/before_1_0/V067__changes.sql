-- V067: facts: the changes of an interface in the order of their commits, and the keys that each
-- touched. Applied once. A call that executes a routine that has other parameters now goes on,
-- under another name, until sql/cleanup/drop_retired.sql drops it.

DO $do$
BEGIN
    IF to_regproc('omd_facts._moment_sql') IS NOT NULL THEN
        COMMENT ON ROUTINE omd_facts._moment_sql IS 'Retired.';
        ALTER ROUTINE omd_facts._moment_sql RENAME TO _former_moment_sql;
    END IF;
END
$do$;

ALTER TABLE omd_facts.entity
ADD COLUMN keeps_changes boolean NOT NULL DEFAULT FALSE,
ADD COLUMN changes_from bigint;
COMMENT ON COLUMN omd_facts.entity.keeps_changes IS
'The keys that a change touches are kept, so that readers go by changes.';
COMMENT ON COLUMN omd_facts.entity.changes_from IS
'The change from which on they are; NULL: they are not kept yet.';

ALTER TABLE omd_facts.interface
ADD COLUMN writer_change_id bigint,
ADD COLUMN purged_change_id bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN omd_facts.interface.writer_change_id IS
'The change of the newest transaction that wrote through a view; NULL: no entity keeps changes.';
COMMENT ON COLUMN omd_facts.interface.purged_change_id IS
'The keys of this change and of all before it are purged; 0: none are.';

CREATE TABLE omd_facts.change (
    change_id bigint GENERATED ALWAYS AS IDENTITY,
    interface_id integer NOT NULL,
    change_kind text NOT NULL,
    change_datetime timestamptz NOT NULL,
    transaction_datetime timestamptz,
    module_instance_id bigint,
    delivery_id bigint,
    entity_ids integer[] NOT NULL DEFAULT '{}',
    key_count bigint NOT NULL DEFAULT 0,
    key_counts jsonb NOT NULL DEFAULT '{}',
    undone_by_change_id bigint,
    CONSTRAINT pk_change PRIMARY KEY (change_id),
    CONSTRAINT fk_change_interface FOREIGN KEY (interface_id)
    REFERENCES omd_facts.interface (interface_id),
    CONSTRAINT ck_change_kind CHECK (change_kind IN ('LOAD', 'RESYNC', 'CRUD', 'UNDO'))
);
CREATE INDEX ix_change_interface ON omd_facts.change (interface_id, change_id);
CREATE INDEX ix_change_undone ON omd_facts.change (interface_id, undone_by_change_id)
WHERE undone_by_change_id IS NOT NULL;
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

CREATE TABLE omd_facts.change_key (
    change_id bigint NOT NULL,
    entity_id integer NOT NULL,
    acm_id bigint NOT NULL,
    was_there boolean NOT NULL,
    is_there boolean NOT NULL,
    CONSTRAINT pk_change_key PRIMARY KEY (entity_id, change_id, acm_id)
);
COMMENT ON TABLE omd_facts.change_key IS
'The keys of whose contexts a change wrote or removed a row.';
COMMENT ON COLUMN omd_facts.change_key.change_id IS 'The change.';
COMMENT ON COLUMN omd_facts.change_key.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_facts.change_key.acm_id IS 'The key, by its anchor.';
COMMENT ON COLUMN omd_facts.change_key.was_there IS 'The key existed before the change.';
COMMENT ON COLUMN omd_facts.change_key.is_there IS 'The key exists after the change.';

CREATE TABLE omd_facts.change_slice (
    change_id bigint NOT NULL,
    entity_id integer NOT NULL,
    acm_id bigint NOT NULL,
    own_key jsonb NOT NULL,
    was_there boolean NOT NULL,
    is_there boolean NOT NULL,
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
