-- V062: how the room delivery reaches those above it when an agreement is made or its model
-- changes. Applied once.

CREATE TABLE omd_delivery.agreement_listener (
    layer_code text NOT NULL,
    routine text NOT NULL,
    CONSTRAINT pk_agreement_listener PRIMARY KEY (layer_code)
);
COMMENT ON TABLE omd_delivery.agreement_listener IS
'Layers whose agreements belong to another room. The room enters its routine when it is installed.';
COMMENT ON COLUMN omd_delivery.agreement_listener.layer_code IS 'The layer of the agreements.';
COMMENT ON COLUMN omd_delivery.agreement_listener.routine IS
'A function (interface_id, agreement code, layer) that makes what such an agreement needs.';
