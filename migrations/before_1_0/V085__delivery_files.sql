-- V085: delivery, fourth part: the files that staging has read, by which a delivery is delivered
-- again, and since when files may name somebody who was erased. Applied once.

CREATE TABLE omd_delivery.delivery_file (
    delivery_id bigint NOT NULL,
    entity_id integer NOT NULL,
    file_no integer NOT NULL,
    uri text NOT NULL,
    bytes bigint NOT NULL,
    modified_datetime timestamptz,
    root text NOT NULL,
    CONSTRAINT pk_delivery_file PRIMARY KEY (delivery_id, entity_id, file_no),
    CONSTRAINT fk_delivery_file_delivery FOREIGN KEY (delivery_id)
    REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT fk_delivery_file_entity FOREIGN KEY (entity_id)
    REFERENCES omd_delivery.entity (entity_id),
    CONSTRAINT ck_delivery_file_no CHECK (file_no > 0),
    CONSTRAINT ck_delivery_file_bytes CHECK (bytes >= 0)
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

-- A delivery that is taken back leaves its place to what was before it.
CREATE INDEX ix_delivery_entity_former ON omd_delivery.delivery_entity (former_delivery_id)
WHERE former_delivery_id IS NOT NULL;

ALTER TABLE omd_delivery.entity ADD COLUMN erased_datetime timestamptz;
COMMENT ON COLUMN omd_delivery.entity.erased_datetime IS
'When somebody was last erased from it: files of deliveries from before may name him; NULL: never.';

-- Its parameters change: its file creates it again. A call that executes it goes on, under another
-- name, until sql/cleanup/drop_retired.sql drops it.
DO $do$
BEGIN
    IF to_regproc('omd_delivery._revert_entity') IS NOT NULL THEN
        COMMENT ON ROUTINE omd_delivery._revert_entity IS 'Retired.';
        ALTER ROUTINE omd_delivery._revert_entity RENAME TO _former_revert_entity;
    END IF;
END
$do$;
