-- V082: process control: what each run has read, and which runs could be seen by whom. Applied
-- once.

-- An upgrade has added these columns before (sql/prepare/module_columns.sql).
ALTER TABLE omd.module_instance
ADD COLUMN IF NOT EXISTS success_order bigint,
ADD COLUMN IF NOT EXISTS newest_instance_id bigint,
ADD COLUMN IF NOT EXISTS is_one_transaction boolean NOT NULL DEFAULT FALSE;
COMMENT ON COLUMN omd.module_instance.success_order IS
'The number that its success has drawn, before its commit and after what it read; NULL: it has not '
'succeeded, or did so before this was recorded.';
COMMENT ON COLUMN omd.module_instance.newest_instance_id IS
'The newest instance when it ended with S or F: it can have read rows of this and older ones; '
'NULL: it has not ended, or did so before this was recorded.';
COMMENT ON COLUMN omd.module_instance.is_one_transaction IS
'Its rows and its success are one transaction, so nobody has read them before; an in-database run '
'(is_session_bound) always is. FALSE: its rows may be visible from its begin on.';

-- A number is drawn when it is needed: of two sessions the later one gets the greater one.
CREATE SEQUENCE omd.success_order AS bigint CACHE 1;
COMMENT ON SEQUENCE omd.success_order IS 'The order of successes.';

CREATE TABLE omd.undone_run (
    module_instance_id bigint NOT NULL,
    undone_by bigint NOT NULL,
    undone_datetime timestamptz NOT NULL,
    transaction_id xid8 NOT NULL,
    undone_upto bigint,
    looked_datetime timestamptz NOT NULL DEFAULT '-infinity',
    is_forgotten boolean NOT NULL DEFAULT FALSE,
    CONSTRAINT pk_undone_run PRIMARY KEY (module_instance_id)
);
CREATE INDEX ix_undone_run_unsettled ON omd.undone_run (module_instance_id)
WHERE undone_upto IS NULL;
CREATE INDEX ix_undone_run_looked ON omd.undone_run (looked_datetime) WHERE NOT is_forgotten;
COMMENT ON TABLE omd.undone_run IS
'The runs whose rows were taken back, whatever did it.';
COMMENT ON COLUMN omd.undone_run.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd.undone_run.undone_by IS
'The run that undid it; the run itself where none did, as when a delivery is reverted.';
COMMENT ON COLUMN omd.undone_run.undone_datetime IS 'When.';
COMMENT ON COLUMN omd.undone_run.transaction_id IS 'The transaction that undid it.';
COMMENT ON COLUMN omd.undone_run.undone_upto IS
'The newest instance at a look after the commit of the undo: a run with a greater id has not read '
'the rows; NULL: nobody has looked yet.';
COMMENT ON COLUMN omd.undone_run.looked_datetime IS
'When somebody looked whether a run that stands has read it.';
COMMENT ON COLUMN omd.undone_run.is_forgotten IS
'None has, and none that executes can have: nobody has to look again.';

CREATE TABLE omd.module_declaration (
    declaration_id bigint GENERATED ALWAYS AS IDENTITY,
    module_id integer NOT NULL,
    origin text NOT NULL,
    inputs jsonb,
    replaces_all boolean NOT NULL DEFAULT FALSE,
    after_id bigint NOT NULL,
    upto_id bigint,
    looked_upto bigint NOT NULL,
    looked_datetime timestamptz NOT NULL,
    text_hash text,
    problem text,
    proposed text[],
    CONSTRAINT pk_module_declaration PRIMARY KEY (declaration_id),
    CONSTRAINT fk_module_declaration_module FOREIGN KEY (module_id)
    REFERENCES omd.module (module_id) ON DELETE CASCADE,
    CONSTRAINT ck_module_declaration_origin CHECK (origin IN ('ROOM', 'HAND', 'CATALOGUE'))
);
CREATE INDEX ix_module_declaration_module ON omd.module_declaration (module_id, after_id);
CREATE UNIQUE INDEX uq_module_declaration_open ON omd.module_declaration (module_id, origin)
WHERE upto_id IS NULL;
CREATE INDEX ix_module_declaration_looked ON omd.module_declaration (looked_datetime)
WHERE upto_id IS NULL;
COMMENT ON TABLE omd.module_declaration IS
'What the runs of a Module read, with the former declarations: each counts for the runs under it.';
COMMENT ON COLUMN omd.module_declaration.declaration_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.module_declaration.module_id IS 'The Module.';
COMMENT ON COLUMN omd.module_declaration.origin IS
'ROOM: the room of its kind says it. HAND: omd.declare_inputs. CATALOGUE: its SQL was looked up.';
COMMENT ON COLUMN omd.module_declaration.inputs IS
'A list of table, kind, pos and id, as it was declared; NULL: nobody knows.';
COMMENT ON COLUMN omd.module_declaration.replaces_all IS
'Each run replaces what the former ones wrote, so only the newest one stands.';
COMMENT ON COLUMN omd.module_declaration.after_id IS 'It counts for runs with a greater id.';
COMMENT ON COLUMN omd.module_declaration.upto_id IS
'It counts for runs up to this id; NULL: it holds still.';
COMMENT ON COLUMN omd.module_declaration.looked_upto IS
'The newest instance when it was looked up, or found unchanged, last.';
COMMENT ON COLUMN omd.module_declaration.looked_datetime IS 'When that was.';
COMMENT ON COLUMN omd.module_declaration.text_hash IS
'Of a look at the catalogue: the MD5 of the SQL; NULL: it is none.';
COMMENT ON COLUMN omd.module_declaration.problem IS
'Why the catalogue does not know it all; NULL: it does, or was not asked.';
COMMENT ON COLUMN omd.module_declaration.proposed IS
'The tables that the catalogue knows; NULL: none, or it was not asked.';

CREATE TABLE omd.module_input (
    declaration_id bigint NOT NULL,
    table_code text NOT NULL,
    declared_code text NOT NULL,
    read_kind text NOT NULL,
    module_id integer NOT NULL,
    pos_column text,
    id_column text,
    after_id bigint NOT NULL,
    upto_id bigint,
    CONSTRAINT pk_module_input PRIMARY KEY (declaration_id, table_code, declared_code, read_kind),
    CONSTRAINT fk_module_input_declaration FOREIGN KEY (declaration_id)
    REFERENCES omd.module_declaration (declaration_id) ON DELETE CASCADE,
    CONSTRAINT ck_module_input_kind CHECK (read_kind IN ('ALL', 'WINDOW', 'RUNS'))
);
CREATE INDEX ix_module_input_table ON omd.module_input (table_code, module_id);
CREATE INDEX ix_module_input_module ON omd.module_input (module_id);
COMMENT ON TABLE omd.module_input IS
'The tables of each declaration: a view stands for those under it.';
COMMENT ON COLUMN omd.module_input.declaration_id IS 'The declaration.';
COMMENT ON COLUMN omd.module_input.table_code IS
'The table, schema.name: the topmost parent of a partition, the current view of facts.';
COMMENT ON COLUMN omd.module_input.declared_code IS 'The table or view that was declared.';
COMMENT ON COLUMN omd.module_input.read_kind IS
'ALL: what is visible. WINDOW: the load window of the run. RUNS: the rows of certain runs, which '
'the run records itself.';
COMMENT ON COLUMN omd.module_input.module_id IS 'The Module.';
COMMENT ON COLUMN omd.module_input.pos_column IS
'The column that the window cuts; NULL: the positions of a source, or no window.';
COMMENT ON COLUMN omd.module_input.id_column IS 'The column of ids in the window; NULL: none.';
COMMENT ON COLUMN omd.module_input.after_id IS 'As in the declaration.';
COMMENT ON COLUMN omd.module_input.upto_id IS 'As in the declaration.';

CREATE TABLE omd.run_input (
    module_instance_id bigint NOT NULL,
    table_code text NOT NULL,
    source_instances bigint[],
    CONSTRAINT pk_run_input PRIMARY KEY (module_instance_id, table_code)
);
CREATE INDEX ix_run_input_table ON omd.run_input (table_code, module_instance_id)
WHERE source_instances IS NULL;
CREATE INDEX ix_run_input_source ON omd.run_input USING gin (source_instances)
WHERE source_instances IS NOT NULL;
COMMENT ON TABLE omd.run_input IS
'What runs have recorded themselves that they read, beyond what their Modules declare. No foreign '
'key: only omd routines write here.';
COMMENT ON COLUMN omd.run_input.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd.run_input.table_code IS
'The table, as in omd.module_input; empty: it has read what nobody could look up.';
COMMENT ON COLUMN omd.run_input.source_instances IS
'The runs whose rows it has read, and no others; NULL: what was visible.';

CREATE TABLE omd.module_read (
    module_id integer NOT NULL,
    table_code text NOT NULL,
    CONSTRAINT pk_module_read PRIMARY KEY (module_id, table_code),
    CONSTRAINT fk_module_read_module FOREIGN KEY (module_id)
    REFERENCES omd.module (module_id) ON DELETE CASCADE
);
CREATE INDEX ix_module_read_table ON omd.module_read (table_code);
COMMENT ON TABLE omd.module_read IS
'The tables that some run of a Module has recorded: its next run may read them again.';
COMMENT ON COLUMN omd.module_read.module_id IS 'The Module.';
COMMENT ON COLUMN omd.module_read.table_code IS 'The table, as in omd.run_input.';

-- The windows of a Module over a source by their ends, so that the one that holds a change is found
-- at once.
CREATE INDEX ix_source_control_block ON omd.source_control (
    module_id, source_code, end_id, module_instance_id
) WHERE source_code IS NOT NULL;

CREATE TABLE omd.maintenance (
    routine text NOT NULL,
    every interval NOT NULL,
    begun_datetime timestamptz NOT NULL DEFAULT '-infinity',
    CONSTRAINT pk_maintenance PRIMARY KEY (routine),
    CONSTRAINT ck_maintenance_every CHECK (every > interval '0')
);
COMMENT ON TABLE omd.maintenance IS
'What workers do between tasks. A room enters its own routines when it is installed.';
COMMENT ON COLUMN omd.maintenance.routine IS 'A function without parameters.';
COMMENT ON COLUMN omd.maintenance.every IS 'The time between two calls, whoever calls.';
COMMENT ON COLUMN omd.maintenance.begun_datetime IS 'When it was called last.';

ALTER TABLE omd.read_bound ADD COLUMN base_routine text;
COMMENT ON COLUMN omd.read_bound.base_routine IS
'A function (OID of the relation) that answers the tables for which the relation stands where '
'somebody reads it; NULL: it stands for itself.';
