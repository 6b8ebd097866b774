-- V095: delivery: which deliveries came before an erasure in their entities. Applied once.

CREATE TABLE omd_delivery.erased_entity (
    entity_id integer NOT NULL,
    delivery_id bigint NOT NULL,
    erased_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_erased_entity PRIMARY KEY (entity_id),
    CONSTRAINT fk_erased_entity_entity FOREIGN KEY (entity_id)
    REFERENCES omd_delivery.entity (entity_id)
);
COMMENT ON TABLE omd_delivery.erased_entity IS
'Entities of which persons were erased. What was delivered before may name them still.';
COMMENT ON COLUMN omd_delivery.erased_entity.entity_id IS 'The entity.';
COMMENT ON COLUMN omd_delivery.erased_entity.delivery_id IS
'The newest delivery of the interface when the newest erasure of the entity was made.';
COMMENT ON COLUMN omd_delivery.erased_entity.erased_datetime IS 'When that was.';
