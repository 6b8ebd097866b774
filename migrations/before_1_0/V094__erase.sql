-- V094: provenance: where else a person is, and the proof that he was erased. Applied once.

CREATE TABLE omd_provenance.subject (
    table_code text NOT NULL,
    interface_code text NOT NULL,
    entity_code text NOT NULL,
    columns jsonb NOT NULL,
    action text NOT NULL,
    registered_by text NOT NULL,
    registered_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_subject PRIMARY KEY (interface_code, entity_code, table_code),
    CONSTRAINT ck_subject_action CHECK (action IN ('DELETE', 'NULL'))
);
COMMENT ON TABLE omd_provenance.subject IS
'Tables outside of the layers of an interface that hold keys of its entities.';
COMMENT ON COLUMN omd_provenance.subject.table_code IS
'The table, or omd_dispatch.<family> for the tasks of a family.';
COMMENT ON COLUMN omd_provenance.subject.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_provenance.subject.entity_code IS 'The entity.';
COMMENT ON COLUMN omd_provenance.subject.columns IS
'The columns that hold the key, {column: attribute}.';
COMMENT ON COLUMN omd_provenance.subject.action IS
'DELETE: the rows go. NULL: these columns become NULL.';
COMMENT ON COLUMN omd_provenance.subject.registered_by IS 'Who registered it.';
COMMENT ON COLUMN omd_provenance.subject.registered_datetime IS 'When.';

CREATE TABLE omd_provenance.erasure (
    erasure_id bigint GENERATED ALWAYS AS IDENTITY,
    interface_code text NOT NULL,
    entity_code text NOT NULL,
    key_count bigint NOT NULL,
    reference text NOT NULL,
    erased_by text NOT NULL,
    erased_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    erasure_status text NOT NULL,
    CONSTRAINT pk_erasure PRIMARY KEY (erasure_id),
    CONSTRAINT ck_erasure_status CHECK (erasure_status IN ('DONE', 'PENDING'))
);
COMMENT ON TABLE omd_provenance.erasure IS
'The proof that persons were erased. It has no key, nor what could be compared with one.';
COMMENT ON COLUMN omd_provenance.erasure.erasure_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_provenance.erasure.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_provenance.erasure.entity_code IS 'The entity.';
COMMENT ON COLUMN omd_provenance.erasure.key_count IS 'How many keys were to be erased.';
COMMENT ON COLUMN omd_provenance.erasure.reference IS 'The request, as who erased named it.';
COMMENT ON COLUMN omd_provenance.erasure.erased_by IS 'Who erased.';
COMMENT ON COLUMN omd_provenance.erasure.erased_datetime IS 'When.';
COMMENT ON COLUMN omd_provenance.erasure.erasure_status IS
'DONE; PENDING: something must still be rewritten.';

CREATE TABLE omd_provenance.erasure_item (
    erasure_id bigint NOT NULL,
    position integer NOT NULL,
    layer text NOT NULL,
    table_code text NOT NULL,
    outcome text NOT NULL,
    key_count bigint,
    row_count bigint,
    text text,
    CONSTRAINT pk_erasure_item PRIMARY KEY (erasure_id, position),
    CONSTRAINT fk_erasure_item_erasure FOREIGN KEY (erasure_id)
    REFERENCES omd_provenance.erasure (erasure_id),
    CONSTRAINT ck_erasure_item_layer CHECK (
        layer IN (
            'LVL', 'DELTA', 'STAGING', 'SAMPLE', 'CONTEXT', 'ANCHOR', 'REFERENCE', 'TABLE',
            'DECISION', 'TASK', 'TEXT', 'STATISTICS', 'LAKE', 'NOT_REACHED'
        )
    ),
    CONSTRAINT ck_erasure_item_outcome CHECK (
        outcome IN (
            'DELETED', 'NULLED', 'MASKED', 'ANALYZED', 'KEPT', 'PENDING', 'NOT_REACHED'
        )
    )
);
COMMENT ON TABLE omd_provenance.erasure_item IS
'What an erasure did, a row per layer, table and outcome.';
COMMENT ON COLUMN omd_provenance.erasure_item.erasure_id IS 'The erasure.';
COMMENT ON COLUMN omd_provenance.erasure_item.position IS 'The place in it, from 1.';
COMMENT ON COLUMN omd_provenance.erasure_item.layer IS 'The layer.';
COMMENT ON COLUMN omd_provenance.erasure_item.table_code IS 'The table, or what was not reached.';
COMMENT ON COLUMN omd_provenance.erasure_item.outcome IS 'What became of the rows.';
COMMENT ON COLUMN omd_provenance.erasure_item.key_count IS
'How many keys it was about; NULL: they are not counted there.';
COMMENT ON COLUMN omd_provenance.erasure_item.row_count IS
'How many rows it was about; NULL: it is not about rows.';
COMMENT ON COLUMN omd_provenance.erasure_item.text IS 'Why; NULL: the outcome says it.';

-- It erased in the facts alone, under a delivery of the layer GDAL.
DO $do$
BEGIN
    IF to_regprocedure('omd_facts.erase(text,text,jsonb,bigint)') IS NOT NULL THEN
        ALTER PROCEDURE omd_facts.erase RENAME TO _former_erase;
        COMMENT ON PROCEDURE omd_facts._former_erase IS 'Retired.';
    END IF;
END
$do$;
