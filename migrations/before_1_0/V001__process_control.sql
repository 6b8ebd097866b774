-- V001: the tables of process control (schema omd) and the schema of the reporting views. Applied
-- once. Instance tables grow with every run: each index below serves a named query, and every query
-- on the hot path is served by one. Source: DIRECT, sections "Execution Status Code" to "Rollback".

CREATE SCHEMA omd_report;
COMMENT ON SCHEMA omd_report IS 'Read-only views over the rooms of OMD.';

-- Types of the codes and counts. A domain's check is compiled once per session, a table's once per
-- statement: on two rows per run that is a difference one can measure.

CREATE DOMAIN omd.execution_status_code AS text
CONSTRAINT ck_execution_status_code CHECK (value IN ('E', 'S', 'F', 'A', 'C'));
COMMENT ON DOMAIN omd.execution_status_code IS
'E executing, S succeeded, F failed, A aborted, C cancelled / skipped.';

CREATE DOMAIN omd.processing_indicator_code AS text
CONSTRAINT ck_processing_indicator_code CHECK (value IN ('P', 'A', 'C', 'R'));
COMMENT ON DOMAIN omd.processing_indicator_code IS
'P proceed, A abort, C cancel / skip, R roll back first.';

CREATE DOMAIN omd.next_run_indicator_code AS text
CONSTRAINT ck_next_run_indicator_code CHECK (value IN ('P', 'R', 'C'));
COMMENT ON DOMAIN omd.next_run_indicator_code IS 'P proceed, R roll back, C cancel / skip once.';

CREATE DOMAIN omd.row_count AS bigint
CONSTRAINT ck_row_count CHECK (value >= 0);
COMMENT ON DOMAIN omd.row_count IS 'A number of rows, 0 or more.';

-- Reference tables

CREATE TABLE omd.execution_status (
    execution_status_code omd.execution_status_code NOT NULL,
    execution_status_description text NOT NULL,
    CONSTRAINT pk_execution_status PRIMARY KEY (execution_status_code)
);
COMMENT ON TABLE omd.execution_status IS
'Execution Status Codes: the outcome of an instance. Read only.';
COMMENT ON COLUMN omd.execution_status.execution_status_code IS 'E, S, F, A or C.';
COMMENT ON COLUMN omd.execution_status.execution_status_description IS 'What the code says.';

CREATE TABLE omd.processing_indicator (
    processing_indicator omd.processing_indicator_code NOT NULL,
    processing_indicator_description text NOT NULL,
    CONSTRAINT pk_processing_indicator PRIMARY KEY (processing_indicator)
);
COMMENT ON TABLE omd.processing_indicator IS
'Processing Indicators: the answer of an evaluation to the instance that asked. Read only.';
COMMENT ON COLUMN omd.processing_indicator.processing_indicator IS 'P, A, C or R.';
COMMENT ON COLUMN omd.processing_indicator.processing_indicator_description IS
'What the code says.';

CREATE TABLE omd.next_run_indicator (
    next_run_indicator omd.next_run_indicator_code NOT NULL,
    next_run_indicator_description text NOT NULL,
    CONSTRAINT pk_next_run_indicator PRIMARY KEY (next_run_indicator)
);
COMMENT ON TABLE omd.next_run_indicator IS
'Next Run Indicators: what an instance asks of the next run. Administrators may write it.';
COMMENT ON COLUMN omd.next_run_indicator.next_run_indicator IS 'P, R or C.';
COMMENT ON COLUMN omd.next_run_indicator.next_run_indicator_description IS 'What the code says.';

CREATE TABLE omd.reason (
    reason_code text NOT NULL,
    reason_description text NOT NULL,
    CONSTRAINT pk_reason PRIMARY KEY (reason_code)
);
COMMENT ON TABLE omd.reason IS 'Why an evaluation aborted or skipped an instance.';
COMMENT ON COLUMN omd.reason.reason_code IS 'The code answered in p_reason.';
COMMENT ON COLUMN omd.reason.reason_description IS 'What the code says.';

CREATE TABLE omd.layer (
    layer_code text NOT NULL,
    layer_description text NOT NULL,
    CONSTRAINT pk_layer PRIMARY KEY (layer_code)
);
COMMENT ON TABLE omd.layer IS 'Layers of the data platform; an area belongs to one.';
COMMENT ON COLUMN omd.layer.layer_code IS 'Name of the layer.';
COMMENT ON COLUMN omd.layer.layer_description IS 'What the layer holds.';

CREATE TABLE omd.area (
    area_code text NOT NULL,
    layer_code text NOT NULL,
    area_description text NOT NULL,
    CONSTRAINT pk_area PRIMARY KEY (area_code),
    CONSTRAINT fk_area_layer FOREIGN KEY (layer_code) REFERENCES omd.layer (layer_code),
    CONSTRAINT ck_area_code CHECK (area_code <> '')
);
COMMENT ON TABLE omd.area IS
'Areas of the data platform (STG, HSTG, INT, PRES, HELPER and what users add). The area decides '
'how a Module is rolled back.';
COMMENT ON COLUMN omd.area.area_code IS 'Name of the area.';
COMMENT ON COLUMN omd.area.layer_code IS 'The layer that the area belongs to.';
COMMENT ON COLUMN omd.area.area_description IS 'What the area holds.';

CREATE TABLE omd.frequency (
    frequency_code text NOT NULL,
    frequency_interval interval,
    frequency_description text NOT NULL,
    CONSTRAINT pk_frequency PRIMARY KEY (frequency_code),
    CONSTRAINT ck_frequency_interval CHECK (frequency_interval > interval '0')
);
COMMENT ON TABLE omd.frequency IS 'How often a Batch may succeed.';
COMMENT ON COLUMN omd.frequency.frequency_code IS 'Name of the frequency.';
COMMENT ON COLUMN omd.frequency.frequency_interval IS
'A Batch whose last real run succeeded and started less than this ago is skipped. NULL: no '
'interval.';
COMMENT ON COLUMN omd.frequency.frequency_description IS 'What the frequency means.';

CREATE TABLE omd.table_type (
    table_type_code text NOT NULL,
    table_type_description text NOT NULL,
    CONSTRAINT pk_table_type PRIMARY KEY (table_type_code),
    CONSTRAINT ck_table_type_code CHECK (table_type_code <> '')
);
COMMENT ON TABLE omd.table_type IS
'Kinds of target table (HUB, LINK, SAT, …). With the area it decides the rollback.';
COMMENT ON COLUMN omd.table_type.table_type_code IS 'Name of the table type.';
COMMENT ON COLUMN omd.table_type.table_type_description IS 'What such a table holds.';

CREATE TABLE omd.platform (
    platform_code text NOT NULL,
    platform_description text NOT NULL,
    CONSTRAINT pk_platform PRIMARY KEY (platform_code),
    CONSTRAINT ck_platform_code CHECK (platform_code IN ('POSTGRES', 'SPARK'))
);
COMMENT ON TABLE omd.platform IS
'Where a target lives: this database, or tables that only Spark can write.';
COMMENT ON COLUMN omd.platform.platform_code IS 'POSTGRES or SPARK.';
COMMENT ON COLUMN omd.platform.platform_description IS 'Who executes the rollback there.';

CREATE TABLE omd.event_type (
    event_type_code integer NOT NULL,
    event_type_description text NOT NULL,
    CONSTRAINT pk_event_type PRIMARY KEY (event_type_code)
);
COMMENT ON TABLE omd.event_type IS 'Kinds of event in the event log.';
COMMENT ON COLUMN omd.event_type.event_type_code IS 'Number of the event type.';
COMMENT ON COLUMN omd.event_type.event_type_description IS 'What such an event is.';

CREATE TABLE omd.error_catalogue (
    sqlstate_code text NOT NULL,
    error_name text NOT NULL,
    message_template text NOT NULL,
    hint_template text NOT NULL,
    CONSTRAINT pk_error_catalogue PRIMARY KEY (sqlstate_code),
    CONSTRAINT uq_error_catalogue_name UNIQUE (error_name),
    CONSTRAINT ck_error_catalogue_sqlstate CHECK (sqlstate_code ~ '^OM[0-9]{3}$')
);
COMMENT ON TABLE omd.error_catalogue IS
'Every error OMD raises. OM0 a caller''s mistake, OM1 a wrong state, OM2 configuration, OM9 '
'internal.';
COMMENT ON COLUMN omd.error_catalogue.sqlstate_code IS 'SQLSTATE.';
COMMENT ON COLUMN omd.error_catalogue.error_name IS
'Name of the error, and of its class in the Python driver.';
COMMENT ON COLUMN omd.error_catalogue.message_template IS
'MESSAGE; {key} stands for a value of the JSON DETAIL.';
COMMENT ON COLUMN omd.error_catalogue.hint_template IS
'HINT: the next command; {key} stands for a value of the DETAIL, {key_literal} for the same as '
'an SQL literal.';

-- Batches and Modules

CREATE TABLE omd.batch (
    batch_id integer GENERATED ALWAYS AS IDENTITY,
    batch_code text NOT NULL,
    batch_description text,
    frequency_code text NOT NULL,
    continue_on_failure boolean NOT NULL DEFAULT FALSE,
    inactive_indicator text NOT NULL DEFAULT 'N',
    CONSTRAINT pk_batch PRIMARY KEY (batch_id),
    CONSTRAINT uq_batch_code UNIQUE (batch_code),
    CONSTRAINT fk_batch_frequency FOREIGN KEY (frequency_code) REFERENCES omd.frequency (
        frequency_code
    ),
    CONSTRAINT ck_batch_code CHECK (batch_code ~ '\S'),
    CONSTRAINT ck_batch_inactive CHECK (inactive_indicator IN ('Y', 'N'))
);
COMMENT ON TABLE omd.batch IS 'Batches: series of Modules (and of other Batches) run together.';
COMMENT ON COLUMN omd.batch.batch_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.batch.batch_code IS 'The name that callers use.';
COMMENT ON COLUMN omd.batch.batch_description IS 'What the Batch loads.';
COMMENT ON COLUMN omd.batch.frequency_code IS 'How often the Batch may succeed.';
COMMENT ON COLUMN omd.batch.continue_on_failure IS
'run_batch attempts the rest of the Batch after a failing Module. The Batch fails either way.';
COMMENT ON COLUMN omd.batch.inactive_indicator IS
'Y: every run of the Batch is skipped. Administrators may write it.';

CREATE TABLE omd.module (
    module_id integer GENERATED ALWAYS AS IDENTITY,
    module_code text NOT NULL,
    module_description text,
    area_code text NOT NULL,
    table_code text NOT NULL,
    table_type_code text,
    platform_code text NOT NULL,
    executable text,
    business_key_columns text[],
    effective_date_column text NOT NULL DEFAULT 'omd_effective_date',
    expiry_date_column text NOT NULL DEFAULT 'omd_expiry_date',
    current_indicator_column text NOT NULL DEFAULT 'omd_current_record_indicator',
    insert_instance_column text NOT NULL DEFAULT 'omd_insert_module_instance_id',
    update_instance_column text NOT NULL DEFAULT 'omd_update_module_instance_id',
    inactive_indicator text NOT NULL DEFAULT 'N',
    CONSTRAINT pk_module PRIMARY KEY (module_id),
    CONSTRAINT uq_module_code UNIQUE (module_code),
    CONSTRAINT fk_module_area FOREIGN KEY (area_code) REFERENCES omd.area (area_code),
    CONSTRAINT fk_module_table_type FOREIGN KEY (table_type_code) REFERENCES omd.table_type (
        table_type_code
    ),
    CONSTRAINT fk_module_platform FOREIGN KEY (platform_code) REFERENCES omd.platform (
        platform_code
    ),
    CONSTRAINT ck_module_code CHECK (module_code ~ '\S'),
    CONSTRAINT ck_module_table_code CHECK (table_code ~ '\S'),
    CONSTRAINT ck_module_inactive CHECK (inactive_indicator IN ('Y', 'N'))
);
COMMENT ON TABLE omd.module IS 'Modules: the smallest unit of work; each loads one target table.';
COMMENT ON COLUMN omd.module.module_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.module.module_code IS 'The name that callers use.';
COMMENT ON COLUMN omd.module.module_description IS 'What the Module loads.';
COMMENT ON COLUMN omd.module.area_code IS 'Area of the target table.';
COMMENT ON COLUMN omd.module.table_code IS
'The target as schema.table, quoted where an identifier needs it: "My schema"."My table".';
COMMENT ON COLUMN omd.module.table_type_code IS
'Type of the target table; NULL where the area does not need one.';
COMMENT ON COLUMN omd.module.platform_code IS 'Where the target lives: POSTGRES or SPARK.';
COMMENT ON COLUMN omd.module.executable IS
'SQL that run_module executes. NULL for a Module that runs elsewhere.';
COMMENT ON COLUMN omd.module.business_key_columns IS
'Columns that identify a satellite''s parent; needed to repair its history.';
COMMENT ON COLUMN omd.module.effective_date_column IS
'Column with the start of a record''s validity.';
COMMENT ON COLUMN omd.module.expiry_date_column IS 'Column with the end of a record''s validity.';
COMMENT ON COLUMN omd.module.current_indicator_column IS
'Column that is Y on the current record of a key.';
COMMENT ON COLUMN omd.module.insert_instance_column IS
'Column with the Module Instance ID that inserted the row.';
COMMENT ON COLUMN omd.module.update_instance_column IS
'Column with the Module Instance ID that last updated the row.';
COMMENT ON COLUMN omd.module.inactive_indicator IS
'Y: every run of the Module is skipped. Administrators may write it.';

CREATE TABLE omd.module_companion (
    module_id integer NOT NULL,
    companion_module_id integer NOT NULL,
    CONSTRAINT pk_module_companion PRIMARY KEY (module_id, companion_module_id),
    CONSTRAINT fk_module_companion_module FOREIGN KEY (module_id) REFERENCES omd.module (module_id),
    CONSTRAINT fk_module_companion_companion FOREIGN KEY (
        companion_module_id
    ) REFERENCES omd.module (module_id),
    CONSTRAINT ck_module_companion_other CHECK (module_id <> companion_module_id)
);
CREATE INDEX ix_module_companion_companion ON omd.module_companion (companion_module_id);
COMMENT ON TABLE omd.module_companion IS
'Modules that are rolled back together with another: the HSTG Modules beside an STG Module.';
COMMENT ON COLUMN omd.module_companion.module_id IS 'The Module.';
COMMENT ON COLUMN omd.module_companion.companion_module_id IS 'The Module that goes with it.';

CREATE TABLE omd.batch_module (
    batch_id integer NOT NULL,
    module_id integer NOT NULL,
    sequence integer NOT NULL,
    inactive_indicator text NOT NULL DEFAULT 'N',
    CONSTRAINT pk_batch_module PRIMARY KEY (batch_id, module_id),
    CONSTRAINT fk_batch_module_batch FOREIGN KEY (batch_id) REFERENCES omd.batch (batch_id),
    CONSTRAINT fk_batch_module_module FOREIGN KEY (module_id) REFERENCES omd.module (module_id),
    CONSTRAINT ck_batch_module_inactive CHECK (inactive_indicator IN ('Y', 'N'))
);
CREATE INDEX ix_batch_module_module ON omd.batch_module (module_id);
COMMENT ON TABLE omd.batch_module IS
'Which Modules a Batch runs. A Module may belong to several Batches.';
COMMENT ON COLUMN omd.batch_module.batch_id IS 'The Batch.';
COMMENT ON COLUMN omd.batch_module.module_id IS 'The Module.';
COMMENT ON COLUMN omd.batch_module.sequence IS 'Order within the Batch, lowest first.';
COMMENT ON COLUMN omd.batch_module.inactive_indicator IS
'Y: the Module is skipped in this Batch. Administrators may write it.';

CREATE TABLE omd.batch_hierarchy (
    batch_id integer NOT NULL,
    parent_batch_id integer NOT NULL,
    sequence integer NOT NULL,
    inactive_indicator text NOT NULL DEFAULT 'N',
    CONSTRAINT pk_batch_hierarchy PRIMARY KEY (parent_batch_id, batch_id),
    CONSTRAINT fk_batch_hierarchy_batch FOREIGN KEY (batch_id) REFERENCES omd.batch (batch_id),
    CONSTRAINT fk_batch_hierarchy_parent FOREIGN KEY (parent_batch_id) REFERENCES omd.batch (
        batch_id
    ),
    CONSTRAINT ck_batch_hierarchy_other CHECK (batch_id <> parent_batch_id),
    CONSTRAINT ck_batch_hierarchy_inactive CHECK (inactive_indicator IN ('Y', 'N'))
);
CREATE INDEX ix_batch_hierarchy_batch ON omd.batch_hierarchy (batch_id);
COMMENT ON TABLE omd.batch_hierarchy IS
'Which Batches a Batch contains. They run after its Modules, by sequence. There are no cycles.';
COMMENT ON COLUMN omd.batch_hierarchy.batch_id IS 'The child.';
COMMENT ON COLUMN omd.batch_hierarchy.parent_batch_id IS 'The parent.';
COMMENT ON COLUMN omd.batch_hierarchy.sequence IS 'Order within the parent, lowest first.';
COMMENT ON COLUMN omd.batch_hierarchy.inactive_indicator IS
'Y: the child is skipped under this parent. Administrators may write it.';

CREATE TABLE omd.parameter (
    parameter_id integer GENERATED ALWAYS AS IDENTITY,
    parameter_code text NOT NULL,
    parameter_description text,
    CONSTRAINT pk_parameter PRIMARY KEY (parameter_id),
    CONSTRAINT uq_parameter_code UNIQUE (parameter_code),
    CONSTRAINT ck_parameter_code CHECK (parameter_code ~ '\S')
);
COMMENT ON TABLE omd.parameter IS 'Parameters that a run can read with omd.parameter_value.';
COMMENT ON COLUMN omd.parameter.parameter_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.parameter.parameter_code IS 'The name that runs use.';
COMMENT ON COLUMN omd.parameter.parameter_description IS 'What the parameter is for.';

CREATE TABLE omd.batch_parameter (
    batch_id integer NOT NULL,
    parameter_id integer NOT NULL,
    parameter_value text,
    CONSTRAINT pk_batch_parameter PRIMARY KEY (batch_id, parameter_id),
    CONSTRAINT fk_batch_parameter_batch FOREIGN KEY (batch_id) REFERENCES omd.batch (batch_id),
    CONSTRAINT fk_batch_parameter_parameter FOREIGN KEY (parameter_id) REFERENCES omd.parameter (
        parameter_id
    )
);
CREATE INDEX ix_batch_parameter_parameter ON omd.batch_parameter (parameter_id);
COMMENT ON TABLE omd.batch_parameter IS
'The value of a parameter for a Batch and the Modules run in it.';
COMMENT ON COLUMN omd.batch_parameter.batch_id IS 'The Batch.';
COMMENT ON COLUMN omd.batch_parameter.parameter_id IS 'The parameter.';
COMMENT ON COLUMN omd.batch_parameter.parameter_value IS 'The value, as text.';

CREATE TABLE omd.module_parameter (
    module_id integer NOT NULL,
    parameter_id integer NOT NULL,
    parameter_value text,
    CONSTRAINT pk_module_parameter PRIMARY KEY (module_id, parameter_id),
    CONSTRAINT fk_module_parameter_module FOREIGN KEY (module_id) REFERENCES omd.module (module_id),
    CONSTRAINT fk_module_parameter_parameter FOREIGN KEY (parameter_id) REFERENCES omd.parameter (
        parameter_id
    )
);
CREATE INDEX ix_module_parameter_parameter ON omd.module_parameter (parameter_id);
COMMENT ON TABLE omd.module_parameter IS
'The value of a parameter for a Module; it wins over the Batch''s.';
COMMENT ON COLUMN omd.module_parameter.module_id IS 'The Module.';
COMMENT ON COLUMN omd.module_parameter.parameter_id IS 'The parameter.';
COMMENT ON COLUMN omd.module_parameter.parameter_value IS 'The value, as text.';

CREATE TABLE omd.rollback_template (
    rollback_template_id integer GENERATED ALWAYS AS IDENTITY,
    area_code text,
    table_type_code text,
    platform_code text,
    module_id integer,
    step integer NOT NULL,
    statement_template text NOT NULL,
    CONSTRAINT pk_rollback_template PRIMARY KEY (rollback_template_id),
    CONSTRAINT uq_rollback_template UNIQUE NULLS NOT DISTINCT (
        area_code, table_type_code, platform_code, module_id, step
    ),
    CONSTRAINT fk_rollback_template_area FOREIGN KEY (area_code) REFERENCES omd.area (area_code),
    CONSTRAINT fk_rollback_template_table_type FOREIGN KEY (table_type_code)
    REFERENCES omd.table_type (table_type_code),
    CONSTRAINT fk_rollback_template_platform FOREIGN KEY (platform_code) REFERENCES omd.platform (
        platform_code
    ),
    CONSTRAINT fk_rollback_template_module FOREIGN KEY (module_id) REFERENCES omd.module (
        module_id
    ),
    CONSTRAINT ck_rollback_template_owner CHECK (
        (
            module_id IS NOT NULL
            AND area_code IS NULL
            AND table_type_code IS NULL
            AND platform_code IS NULL
        )
        OR (module_id IS NULL AND area_code IS NOT NULL AND platform_code IS NOT NULL)
    )
);
CREATE INDEX ix_rollback_template_module ON omd.rollback_template (
    module_id
) WHERE module_id IS NOT NULL;
COMMENT ON TABLE omd.rollback_template IS
'The statements that undo runs of a Module: by area, table type and platform, or for one Module, '
'which then counts alone.';
COMMENT ON COLUMN omd.rollback_template.rollback_template_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.rollback_template.area_code IS
'Area of the target. NULL on a Module''s own template.';
COMMENT ON COLUMN omd.rollback_template.table_type_code IS
'Type of the target; NULL: every type without rows of its own.';
COMMENT ON COLUMN omd.rollback_template.platform_code IS
'Where the target lives. NULL on a Module''s own template.';
COMMENT ON COLUMN omd.rollback_template.module_id IS 'The Module whose own template this is.';
COMMENT ON COLUMN omd.rollback_template.step IS 'Order of the statements, lowest first.';
COMMENT ON COLUMN omd.rollback_template.statement_template IS
'One statement. {table}, {insert_instance_column}, {update_instance_column}, {instance_array}, '
'{instance_list} are filled in, quoted.';

-- Instances

CREATE TABLE omd.batch_instance (
    batch_instance_id bigint GENERATED ALWAYS AS IDENTITY,
    batch_id integer,
    parent_batch_instance_id bigint NOT NULL DEFAULT 0,
    start_datetime timestamptz NOT NULL,
    end_datetime timestamptz,
    lease_expires_at timestamptz,
    execution_status_code omd.execution_status_code NOT NULL,
    processing_indicator omd.processing_indicator_code NOT NULL,
    next_run_indicator omd.next_run_indicator_code NOT NULL,
    is_session_bound boolean NOT NULL DEFAULT FALSE,
    reason_code text,
    execution_context jsonb,
    CONSTRAINT pk_batch_instance PRIMARY KEY (batch_instance_id),
    CONSTRAINT fk_batch_instance_batch FOREIGN KEY (batch_id) REFERENCES omd.batch (batch_id),
    CONSTRAINT ck_batch_instance_placeholder CHECK (batch_id IS NOT NULL OR batch_instance_id = 0),
    CONSTRAINT ck_batch_instance_processing CHECK (processing_indicator <> 'R'),
    CONSTRAINT ck_batch_instance_end CHECK ((execution_status_code = 'E') = (end_datetime IS NULL))
) WITH (
    fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
-- the multiple-instance check, and giving up the dead
CREATE INDEX ix_batch_instance_executing ON omd.batch_instance (batch_id, batch_instance_id)
WHERE execution_status_code = 'E';
-- at most one instance of a Batch proceeds, whatever the callers do
CREATE UNIQUE INDEX uq_batch_instance_proceeding ON omd.batch_instance (batch_id)
WHERE execution_status_code = 'E' AND processing_indicator = 'P';
-- the last real run, the last success and the failures since
CREATE INDEX ix_batch_instance_success ON omd.batch_instance (batch_id, batch_instance_id)
WHERE execution_status_code = 'S';
CREATE INDEX ix_batch_instance_failure ON omd.batch_instance (batch_id, batch_instance_id)
WHERE execution_status_code = 'F';
-- unconsumed directives
CREATE INDEX ix_batch_instance_directive ON omd.batch_instance (batch_id, batch_instance_id)
WHERE next_run_indicator IN ('C', 'R');
-- children of a Batch Instance
CREATE INDEX ix_batch_instance_parent ON omd.batch_instance (parent_batch_instance_id)
WHERE parent_batch_instance_id <> 0;
-- the log of one Batch, newest first
CREATE INDEX ix_batch_instance_batch ON omd.batch_instance (batch_id, batch_instance_id);
-- reports over a span of time; IDs grow with time, so a block-range index is enough
CREATE INDEX ix_batch_instance_start ON omd.batch_instance USING brin (start_datetime);
COMMENT ON TABLE omd.batch_instance IS
'One row per execution of a Batch. Row 0 stands for "no Batch".';
COMMENT ON COLUMN omd.batch_instance.batch_instance_id IS
'Order of instances is by this ID, never by time.';
COMMENT ON COLUMN omd.batch_instance.batch_id IS 'The Batch. NULL only on the placeholder row 0.';
COMMENT ON COLUMN omd.batch_instance.parent_batch_instance_id IS
'The instance that called this one; 0 when none did.';
COMMENT ON COLUMN omd.batch_instance.start_datetime IS 'When the instance was created.';
COMMENT ON COLUMN omd.batch_instance.end_datetime IS
'When the instance ended; NULL exactly while it executes.';
COMMENT ON COLUMN omd.batch_instance.lease_expires_at IS
'The run is given up after this moment unless it is renewed. NULL: never.';
COMMENT ON COLUMN omd.batch_instance.execution_status_code IS
'E executing, S succeeded, F failed, A aborted, C skipped.';
COMMENT ON COLUMN omd.batch_instance.processing_indicator IS
'P proceed, A abort, C skip. A until the evaluation has answered.';
COMMENT ON COLUMN omd.batch_instance.next_run_indicator IS
'P proceed, R roll everything back, C skip the next run once. Administrators may write it.';
COMMENT ON COLUMN omd.batch_instance.is_session_bound IS
'The run is alive as long as its session holds the advisory lock of this instance (run_batch).';
COMMENT ON COLUMN omd.batch_instance.reason_code IS 'Why the evaluation aborted or skipped.';
COMMENT ON COLUMN omd.batch_instance.execution_context IS
'Where and by what it ran: platform, host, application id, …';

CREATE TABLE omd.module_instance (
    module_instance_id bigint GENERATED ALWAYS AS IDENTITY,
    batch_instance_id bigint NOT NULL DEFAULT 0,
    rolled_back_by_module_instance_id bigint,
    start_datetime timestamptz NOT NULL,
    end_datetime timestamptz,
    lease_expires_at timestamptz,
    rows_input omd.row_count NOT NULL DEFAULT 0,
    rows_inserted omd.row_count NOT NULL DEFAULT 0,
    rows_updated omd.row_count NOT NULL DEFAULT 0,
    rows_deleted omd.row_count NOT NULL DEFAULT 0,
    rows_discarded omd.row_count NOT NULL DEFAULT 0,
    rows_rejected omd.row_count NOT NULL DEFAULT 0,
    module_id integer,
    next_run_batch_id integer,
    execution_status_code omd.execution_status_code NOT NULL,
    processing_indicator omd.processing_indicator_code NOT NULL,
    next_run_indicator omd.next_run_indicator_code NOT NULL,
    is_session_bound boolean NOT NULL DEFAULT FALSE,
    reason_code text,
    rollback_instance_array bigint[] NOT NULL DEFAULT '{}',
    execution_context jsonb,
    CONSTRAINT pk_module_instance PRIMARY KEY (module_instance_id),
    CONSTRAINT ck_module_instance_end CHECK (
        (execution_status_code = 'E') = (end_datetime IS NULL)
    )
) WITH (
    fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
-- what an evaluation looks at: the instances that execute, ask for a skip, or wait for a rollback
CREATE INDEX ix_module_instance_open ON omd.module_instance (module_id, module_instance_id)
WHERE
execution_status_code = 'E'
OR next_run_indicator = 'C'
OR (
    (execution_status_code = 'F' OR next_run_indicator = 'R')
    AND rolled_back_by_module_instance_id IS NULL
);
-- at most one instance of a Module proceeds, whatever the callers do
CREATE UNIQUE INDEX uq_module_instance_proceeding ON omd.module_instance (module_id)
WHERE execution_status_code = 'E' AND processing_indicator IN ('P', 'R');
-- the skips that a partial restart of one Batch has set
CREATE INDEX ix_module_instance_restart ON omd.module_instance (next_run_batch_id)
WHERE next_run_batch_id IS NOT NULL;
-- the Modules of a Batch Instance
CREATE INDEX ix_module_instance_batch_instance ON omd.module_instance (batch_instance_id, module_id)
WHERE batch_instance_id <> 0;
-- the log of one Module: its last real run, what came after an instance
CREATE INDEX ix_module_instance_module ON omd.module_instance (module_id, module_instance_id);
-- reports over a span of time; IDs grow with time, so a block-range index is enough
CREATE INDEX ix_module_instance_start ON omd.module_instance USING brin (start_datetime);
COMMENT ON TABLE omd.module_instance IS
'One row per execution of a Module. Row 0 stands for "no Module". Two columns have no foreign '
'key, since only omd routines write here. module_id: the check would lock and read again, on '
'every run, the row that the routine holds already; a trigger keeps Modules that have run. '
'batch_instance_id: thousands of runs on their own would lock the one placeholder row.';
COMMENT ON COLUMN omd.module_instance.module_instance_id IS
'Stamped on every row the run writes. Order of instances is by this ID, never by time.';
COMMENT ON COLUMN omd.module_instance.batch_instance_id IS
'The Batch Instance that called; 0 when run on its own.';
COMMENT ON COLUMN omd.module_instance.rolled_back_by_module_instance_id IS
'The later instance that undid this one.';
COMMENT ON COLUMN omd.module_instance.start_datetime IS 'When the instance was created.';
COMMENT ON COLUMN omd.module_instance.end_datetime IS
'When the instance ended; NULL exactly while it executes.';
COMMENT ON COLUMN omd.module_instance.lease_expires_at IS
'The run is given up after this moment unless it is renewed. NULL: never.';
COMMENT ON COLUMN omd.module_instance.rows_input IS 'Rows read.';
COMMENT ON COLUMN omd.module_instance.rows_inserted IS 'Rows inserted.';
COMMENT ON COLUMN omd.module_instance.rows_updated IS 'Rows updated.';
COMMENT ON COLUMN omd.module_instance.rows_deleted IS 'Rows deleted.';
COMMENT ON COLUMN omd.module_instance.rows_discarded IS 'Rows left out on purpose.';
COMMENT ON COLUMN omd.module_instance.rows_rejected IS 'Rows refused as bad.';
COMMENT ON COLUMN omd.module_instance.module_id IS
'The Module. NULL only on the placeholder row 0.';
COMMENT ON COLUMN omd.module_instance.next_run_batch_id IS
'The Batch whose partial restart set next_run_indicator to C: the skip is valid in reruns of '
'that Batch only. NULL: an administrator set it.';
COMMENT ON COLUMN omd.module_instance.execution_status_code IS
'E executing, S succeeded, F failed, A aborted, C skipped.';
COMMENT ON COLUMN omd.module_instance.processing_indicator IS
'P proceed, A abort, C skip, R roll back first. A until the evaluation has answered.';
COMMENT ON COLUMN omd.module_instance.next_run_indicator IS
'P proceed, R roll this instance back, C skip the next run once. Administrators may write it.';
COMMENT ON COLUMN omd.module_instance.is_session_bound IS
'The run is alive as long as its session holds the advisory lock of this instance (run_module).';
COMMENT ON COLUMN omd.module_instance.reason_code IS 'Why the evaluation aborted or skipped.';
COMMENT ON COLUMN omd.module_instance.rollback_instance_array IS
'The instances that the evaluation told this run to undo, in ID order.';
COMMENT ON COLUMN omd.module_instance.execution_context IS
'Where and by what it ran: platform, host, application id, …';

CREATE TABLE omd.source_control (
    module_instance_id bigint NOT NULL,
    start_id bigint,
    end_id bigint,
    start_value timestamptz,
    end_value timestamptz,
    module_id integer NOT NULL,
    is_taken_back boolean NOT NULL DEFAULT FALSE,
    CONSTRAINT pk_source_control PRIMARY KEY (module_instance_id),
    CONSTRAINT fk_source_control_instance FOREIGN KEY (module_instance_id)
    REFERENCES omd.module_instance (module_instance_id),
    CONSTRAINT ck_source_control_end CHECK (end_value IS NOT NULL OR end_id IS NOT NULL)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- the newest window that counts
CREATE INDEX ix_source_control_counting ON omd.source_control (module_id, module_instance_id)
WHERE NOT is_taken_back;
COMMENT ON TABLE omd.source_control IS
'The load window of a Module Instance: (start, end], each a pair of timestamp and id, either '
'part optional.';
COMMENT ON COLUMN omd.source_control.module_instance_id IS 'The instance that reads the window.';
COMMENT ON COLUMN omd.source_control.start_id IS 'Start of the window, exclusive: id part.';
COMMENT ON COLUMN omd.source_control.end_id IS 'End of the window, inclusive: id part.';
COMMENT ON COLUMN omd.source_control.start_value IS
'Start of the window, exclusive: timestamp part.';
COMMENT ON COLUMN omd.source_control.end_value IS 'End of the window, inclusive: timestamp part.';
COMMENT ON COLUMN omd.source_control.module_id IS
'The Module of the instance, here so that one index finds its newest window.';
COMMENT ON COLUMN omd.source_control.is_taken_back IS
'The instance was rolled back: the window is kept for audit, and no reader counts it.';

CREATE TABLE omd.event_log (
    event_id bigint GENERATED ALWAYS AS IDENTITY,
    batch_instance_id bigint NOT NULL DEFAULT 0,
    module_instance_id bigint NOT NULL DEFAULT 0,
    event_datetime timestamptz NOT NULL,
    error_bitmap bigint NOT NULL DEFAULT 0,
    event_type_code integer NOT NULL,
    event_return_code_details text,
    event_detail text,
    CONSTRAINT pk_event_log PRIMARY KEY (event_id),
    CONSTRAINT fk_event_log_event_type FOREIGN KEY (event_type_code) REFERENCES omd.event_type (
        event_type_code
    )
);
CREATE INDEX ix_event_log_batch_instance ON omd.event_log (
    batch_instance_id
) WHERE batch_instance_id
<> 0;
CREATE INDEX ix_event_log_module_instance ON omd.event_log (
    module_instance_id
) WHERE module_instance_id
<> 0;
CREATE INDEX ix_event_log_datetime ON omd.event_log USING brin (event_datetime);
COMMENT ON TABLE omd.event_log IS
'What happened: one row per failure, per edit by an administrator, per rollback, and whatever a '
'run logs.';
COMMENT ON COLUMN omd.event_log.event_id IS 'Surrogate key, in order of writing.';
COMMENT ON COLUMN omd.event_log.batch_instance_id IS
'The Batch Instance concerned; 0 when none is.';
COMMENT ON COLUMN omd.event_log.module_instance_id IS
'The Module Instance concerned; 0 when none is.';
COMMENT ON COLUMN omd.event_log.event_datetime IS 'When the event was written.';
COMMENT ON COLUMN omd.event_log.error_bitmap IS
'Bits of a data quality check, as the run defines them.';
COMMENT ON COLUMN omd.event_log.event_type_code IS 'The kind of event.';
COMMENT ON COLUMN omd.event_log.event_return_code_details IS
'Code of the error or the change: an SQLSTATE, an exception''s type, P -> R.';
COMMENT ON COLUMN omd.event_log.event_detail IS 'The full text.';
