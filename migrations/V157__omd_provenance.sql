-- The tables of omd_provenance in 1.0, with which a new database begins. tools/baseline.py has
-- written them from the catalogue that the migrations of before_1_0 lead to. Applied once.

CREATE SCHEMA omd_provenance;
COMMENT ON SCHEMA omd_provenance IS
'Provenance: who read what of whom, what must go with a bad load, and how it goes.';

CREATE TABLE omd_provenance.recall (
    recall_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    recall_status text NOT NULL DEFAULT 'PLANNED'::text,
    target jsonb NOT NULL,
    reason text NOT NULL,
    awaits_correction boolean NOT NULL DEFAULT FALSE,
    planned_by text NOT NULL,
    planned_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    executed_by text,
    executed_datetime timestamptz,
    module_instance_id bigint,
    CONSTRAINT ck_recall_status CHECK (recall_status IN ('PLANNED', 'EXECUTED')),
    CONSTRAINT ck_recall_executed CHECK (
        (recall_status = 'EXECUTED'::text)
        = (executed_by IS NOT NULL AND executed_datetime IS NOT NULL)
    ),
    CONSTRAINT pk_recall PRIMARY KEY (recall_id)
);
COMMENT ON TABLE omd_provenance.recall IS 'What was to be taken back, and whether it was.';
COMMENT ON COLUMN omd_provenance.recall.recall_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_provenance.recall.recall_status IS
'PLANNED: nothing has happened yet. EXECUTED: it was taken back.';
COMMENT ON COLUMN omd_provenance.recall.target IS
'What plan_recall was given: the argument and its value.';
COMMENT ON COLUMN omd_provenance.recall.reason IS 'Why, as its planner wrote it.';
COMMENT ON COLUMN omd_provenance.recall.awaits_correction IS
'Whether the target itself is to come again, by hand.';
COMMENT ON COLUMN omd_provenance.recall.planned_by IS 'Who planned it.';
COMMENT ON COLUMN omd_provenance.recall.planned_datetime IS 'When.';
COMMENT ON COLUMN omd_provenance.recall.executed_by IS 'Who executed it; NULL: nobody yet.';
COMMENT ON COLUMN omd_provenance.recall.executed_datetime IS 'When.';
COMMENT ON COLUMN omd_provenance.recall.module_instance_id IS
'The run of the Module provenance.recall that took everything back; NULL: none yet.';

CREATE TABLE omd_provenance.recall_item (
    recall_id bigint NOT NULL,
    position integer NOT NULL,
    action text NOT NULL,
    module_kind_code text,
    module_instance_id bigint,
    delivery_id bigint,
    module_code text,
    table_code text,
    distance integer NOT NULL,
    because_of bigint,
    relation text NOT NULL,
    is_exact boolean NOT NULL,
    rows_go bigint,
    rows_back bigint,
    rows_gone bigint,
    rows_returned bigint,
    comes_again text,
    problem text,
    CONSTRAINT ck_recall_item_action CHECK (
        action IN (
            'REVERT',
            'REDELIVER',
            'BY_HAND',
            'REQUEUE',
            'UNDO',
            'GIVE_UP',
            'WITHDRAW',
            'PENDING',
            'UNKNOWN',
            'OUTSIDE',
            'BLOCKED'
        )
    ),
    CONSTRAINT ck_recall_item_relation CHECK (relation IN ('TARGET', 'READS', 'FOLLOWS')),
    CONSTRAINT pk_recall_item PRIMARY KEY (recall_id, position),
    CONSTRAINT fk_recall_item_recall FOREIGN KEY (recall_id) REFERENCES omd_provenance.recall (
        recall_id
    ) ON DELETE CASCADE
);
COMMENT ON TABLE omd_provenance.recall_item IS
'What a recall takes back: a row per run and table, in the order of the act.';
COMMENT ON COLUMN omd_provenance.recall_item.recall_id IS 'The recall.';
COMMENT ON COLUMN omd_provenance.recall_item.position IS 'The place in the act, from 1.';
COMMENT ON COLUMN omd_provenance.recall_item.action IS
'What happens to the run: REVERT, REDELIVER, BY_HAND, REQUEUE, UNDO, GIVE_UP, WITHDRAW, PENDING; '
'UNKNOWN and OUTSIDE are left alone, BLOCKED is in the way.';
COMMENT ON COLUMN omd_provenance.recall_item.module_kind_code IS 'The kind of its Module.';
COMMENT ON COLUMN omd_provenance.recall_item.module_instance_id IS 'The run; NULL: there is none.';
COMMENT ON COLUMN omd_provenance.recall_item.delivery_id IS 'Its delivery; NULL: it has none.';
COMMENT ON COLUMN omd_provenance.recall_item.module_code IS 'Its Module.';
COMMENT ON COLUMN omd_provenance.recall_item.table_code IS 'The table that it wrote.';
COMMENT ON COLUMN omd_provenance.recall_item.distance IS 'Steps from the target; the target is 0.';
COMMENT ON COLUMN omd_provenance.recall_item.because_of IS
'The run that takes this one with it; NULL: the target.';
COMMENT ON COLUMN omd_provenance.recall_item.relation IS
'TARGET; READS: it has read rows of because_of; FOLLOWS: it stands on them without having read.';
COMMENT ON COLUMN omd_provenance.recall_item.is_exact IS
'Whether the ledger knows it; false: it may have read.';
COMMENT ON COLUMN omd_provenance.recall_item.rows_go IS
'Rows of the table with its stamp when the plan was made; NULL: only a template knows.';
COMMENT ON COLUMN omd_provenance.recall_item.rows_back IS
'Rows of runs that stand which it had replaced, at that time; NULL: only a template knows.';
COMMENT ON COLUMN omd_provenance.recall_item.rows_gone IS
'Rows that have gone; NULL: not executed, or not known.';
COMMENT ON COLUMN omd_provenance.recall_item.rows_returned IS
'Rows that have come back; NULL: not executed, or not known.';
COMMENT ON COLUMN omd_provenance.recall_item.comes_again IS
'How it is made again; NULL: it is not.';
COMMENT ON COLUMN omd_provenance.recall_item.problem IS
'What is in the way, or what must be known; NULL: nothing.';

CREATE TABLE omd_provenance.subject (
    table_code text NOT NULL,
    interface_code text NOT NULL,
    entity_code text NOT NULL,
    columns jsonb NOT NULL,
    action text NOT NULL,
    registered_by text NOT NULL,
    registered_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT ck_subject_action CHECK (action IN ('DELETE', 'NULL')),
    CONSTRAINT pk_subject PRIMARY KEY (interface_code, entity_code, table_code)
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
    erasure_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    interface_code text NOT NULL,
    entity_code text NOT NULL,
    key_count bigint NOT NULL,
    reference text NOT NULL,
    erased_by text NOT NULL,
    erased_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    erasure_status text NOT NULL,
    CONSTRAINT ck_erasure_status CHECK (erasure_status IN ('DONE', 'PENDING')),
    CONSTRAINT pk_erasure PRIMARY KEY (erasure_id)
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
    CONSTRAINT ck_erasure_item_layer CHECK (
        layer IN (
            'LVL',
            'DELTA',
            'STAGING',
            'SAMPLE',
            'CONTEXT',
            'ANCHOR',
            'REFERENCE',
            'TABLE',
            'DECISION',
            'TASK',
            'TEXT',
            'STATISTICS',
            'LAKE',
            'NOT_REACHED'
        )
    ),
    CONSTRAINT ck_erasure_item_outcome CHECK (
        outcome IN ('DELETED', 'NULLED', 'MASKED', 'ANALYZED', 'KEPT', 'PENDING', 'NOT_REACHED')
    ),
    CONSTRAINT pk_erasure_item PRIMARY KEY (erasure_id, position),
    CONSTRAINT fk_erasure_item_erasure FOREIGN KEY (erasure_id) REFERENCES omd_provenance.erasure (
        erasure_id
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

CREATE TABLE omd_provenance.pending_erasure (
    pending_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    erasure_id bigint,
    table_code text NOT NULL,
    columns jsonb NOT NULL,
    action text NOT NULL,
    keys jsonb NOT NULL,
    CONSTRAINT ck_pending_erasure_action CHECK (action IN ('DELETE', 'NULL')),
    CONSTRAINT pk_pending_erasure PRIMARY KEY (pending_id),
    CONSTRAINT fk_pending_erasure_erasure FOREIGN KEY (
        erasure_id
    ) REFERENCES omd_provenance.erasure (erasure_id)
);
ALTER TABLE omd_provenance.pending_erasure ALTER COLUMN keys SET STATISTICS 0;
CREATE INDEX ix_pending_erasure_erasure ON omd_provenance.pending_erasure (erasure_id);
COMMENT ON TABLE omd_provenance.pending_erasure IS
'The lake tables that an erasure has still to rewrite, with the keys until then. Nobody but the '
'routines of the erasure reads it.';
COMMENT ON COLUMN omd_provenance.pending_erasure.pending_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_provenance.pending_erasure.erasure_id IS
'The erasure; NULL only within its transaction.';
COMMENT ON COLUMN omd_provenance.pending_erasure.table_code IS 'The lake table.';
COMMENT ON COLUMN omd_provenance.pending_erasure.columns IS
'The columns that hold the key, {column: attribute}.';
COMMENT ON COLUMN omd_provenance.pending_erasure.action IS
'DELETE: the rows go. NULL: these columns become NULL.';
COMMENT ON COLUMN omd_provenance.pending_erasure.keys IS
'The keys, which go when the table is rewritten.';
