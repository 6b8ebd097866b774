-- V080: provenance: the recalls, what each of them takes back, run by run, and why. Applied once.

CREATE SCHEMA omd_provenance;
COMMENT ON SCHEMA omd_provenance IS
'Provenance: who read what of whom, what must go with a bad load, and how it goes.';

CREATE TABLE omd_provenance.recall (
    recall_id bigint GENERATED ALWAYS AS IDENTITY,
    recall_status text NOT NULL DEFAULT 'PLANNED',
    target jsonb NOT NULL,
    reason text NOT NULL,
    awaits_correction boolean NOT NULL DEFAULT FALSE,
    planned_by text NOT NULL,
    planned_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    executed_by text,
    executed_datetime timestamptz,
    module_instance_id bigint,
    CONSTRAINT pk_recall PRIMARY KEY (recall_id),
    CONSTRAINT ck_recall_status CHECK (recall_status IN ('PLANNED', 'EXECUTED')),
    CONSTRAINT ck_recall_executed CHECK (
        (recall_status = 'EXECUTED')
        = (executed_by IS NOT NULL AND executed_datetime IS NOT NULL)
    )
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
    CONSTRAINT pk_recall_item PRIMARY KEY (recall_id, position),
    CONSTRAINT fk_recall_item_recall FOREIGN KEY (recall_id)
    REFERENCES omd_provenance.recall (recall_id) ON DELETE CASCADE,
    CONSTRAINT ck_recall_item_action CHECK (
        action IN (
            'REVERT', 'REDELIVER', 'BY_HAND', 'REQUEUE', 'UNDO', 'GIVE_UP', 'WITHDRAW', 'PENDING',
            'UNKNOWN', 'OUTSIDE', 'BLOCKED'
        )
    ),
    CONSTRAINT ck_recall_item_relation CHECK (relation IN ('TARGET', 'READS', 'FOLLOWS'))
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
COMMENT ON COLUMN omd_provenance.recall_item.distance IS
'Steps from the target; the target is 0.';
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
