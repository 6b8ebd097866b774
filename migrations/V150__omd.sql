-- The tables of omd in 1.0, with which a new database begins. tools/baseline.py has
-- written them from the catalogue that the migrations of before_1_0 lead to. Applied once.

CREATE SCHEMA omd_report;
COMMENT ON SCHEMA omd_report IS 'Read-only views over the rooms of OMD.';

-- A type needs it; its own file replaces it.
CREATE OR REPLACE FUNCTION omd._refuse_next_run_indicator(p_value text)
RETURNS boolean
LANGUAGE plpgsql
STABLE PARALLEL SAFE
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
    IF p_value IS NOT NULL AND current_user <> 'omd_owner' THEN
        PERFORM omd.raise_error(
            'OM006',
            jsonb_build_object(
                'kind', 'next run indicator', 'code', p_value, 'codes', 'C, P, R'
            )
        );
    END IF;
    RETURN p_value IS NULL;
END
$function$;

CREATE DOMAIN omd.execution_status_code AS text
CONSTRAINT ck_execution_status_code CHECK (value IN ('E', 'S', 'F', 'A', 'C'));
COMMENT ON DOMAIN omd.execution_status_code IS
'E executing, S succeeded, F failed, A aborted, C cancelled / skipped.';

CREATE DOMAIN omd.processing_indicator_code AS text
CONSTRAINT ck_processing_indicator_code CHECK (value IN ('P', 'A', 'C', 'R'));
COMMENT ON DOMAIN omd.processing_indicator_code IS
'P proceed, A abort, C cancel / skip, R roll back first.';

CREATE DOMAIN omd.next_run_indicator_code AS text;
ALTER DOMAIN omd.next_run_indicator_code ADD CONSTRAINT ck_next_run_indicator_code
CHECK ((value IN ('P', 'R', 'C')) OR omd._refuse_next_run_indicator(value)) NOT VALID;
COMMENT ON DOMAIN omd.next_run_indicator_code IS 'P proceed, R roll back, C cancel / skip once.';

CREATE DOMAIN omd.row_count AS bigint
CONSTRAINT ck_row_count CHECK (value >= 0);
COMMENT ON DOMAIN omd.row_count IS 'A number of rows, 0 or more.';

CREATE SEQUENCE omd.write_number AS bigint;
COMMENT ON SEQUENCE omd.write_number IS
'Numbers of writes, for writers that are several at once and have no number of their own.';

CREATE SEQUENCE omd.success_order AS bigint;
COMMENT ON SEQUENCE omd.success_order IS 'The order of successes.';

CREATE SEQUENCE omd.settled_server AS bigint MINVALUE -9223372036854775808;
COMMENT ON SEQUENCE omd.settled_server IS
'For which server the sequences were set last, as a hash. It survives a rollback, as they do.';

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
COMMENT ON TABLE omd.reason IS
'Why an evaluation aborted or skipped an instance: every reason code an instance can carry.';
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
    CONSTRAINT ck_area_code CHECK (area_code <> ''::text),
    CONSTRAINT pk_area PRIMARY KEY (area_code),
    CONSTRAINT fk_area_layer FOREIGN KEY (layer_code) REFERENCES omd.layer (layer_code)
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
    frequency_tolerance interval,
    CONSTRAINT ck_frequency_interval CHECK (frequency_interval > '00:00:00'::interval),
    CONSTRAINT pk_frequency PRIMARY KEY (frequency_code),
    CONSTRAINT ck_frequency_tolerance CHECK (frequency_tolerance >= '00:00:00'::interval)
);
COMMENT ON TABLE omd.frequency IS 'How often a Batch may succeed.';
COMMENT ON COLUMN omd.frequency.frequency_code IS 'Name of the frequency.';
COMMENT ON COLUMN omd.frequency.frequency_interval IS
'A Batch whose last real run succeeded and started less than this ago is skipped. NULL: no '
'interval.';
COMMENT ON COLUMN omd.frequency.frequency_description IS 'What the frequency means.';
COMMENT ON COLUMN omd.frequency.frequency_tolerance IS
'How much earlier than its interval a start may be. NULL: 5 % of the interval, at most 70 '
'minutes.';

CREATE TABLE omd.table_type (
    table_type_code text NOT NULL,
    table_type_description text NOT NULL,
    CONSTRAINT ck_table_type_code CHECK (table_type_code <> ''::text),
    CONSTRAINT pk_table_type PRIMARY KEY (table_type_code)
);
COMMENT ON TABLE omd.table_type IS
'Kinds of target table (HUB, LINK, SAT, …). With the area it decides the rollback.';
COMMENT ON COLUMN omd.table_type.table_type_code IS 'Name of the table type.';
COMMENT ON COLUMN omd.table_type.table_type_description IS 'What such a table holds.';

CREATE TABLE omd.platform (
    platform_code text NOT NULL,
    platform_description text NOT NULL,
    CONSTRAINT ck_platform_code CHECK (platform_code IN ('POSTGRES', 'SPARK')),
    CONSTRAINT pk_platform PRIMARY KEY (platform_code)
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
    CONSTRAINT ck_error_catalogue_sqlstate CHECK (sqlstate_code ~ '^OM[0-9]{3}$'::text),
    CONSTRAINT pk_error_catalogue PRIMARY KEY (sqlstate_code),
    CONSTRAINT uq_error_catalogue_name UNIQUE (error_name)
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
'HINT: the next command; {key} stands for a value of the DETAIL, {key_literal} for the same as an '
'SQL literal.';

CREATE TABLE omd.batch (
    batch_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    batch_code text NOT NULL,
    batch_description text,
    frequency_code text NOT NULL,
    continue_on_failure boolean NOT NULL DEFAULT FALSE,
    inactive_indicator text NOT NULL DEFAULT 'N'::text,
    executing_from bigint NOT NULL DEFAULT 0,
    CONSTRAINT ck_batch_code CHECK (batch_code ~ '\S'::text),
    CONSTRAINT ck_batch_inactive CHECK (inactive_indicator IN ('Y', 'N')),
    CONSTRAINT pk_batch PRIMARY KEY (batch_id),
    CONSTRAINT uq_batch_code UNIQUE (batch_code),
    CONSTRAINT fk_batch_frequency FOREIGN KEY (frequency_code) REFERENCES omd.frequency (
        frequency_code
    )
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
COMMENT ON COLUMN omd.batch.executing_from IS
'No instance of the Batch with a lower id executes. Internal: a begin moves it now and then.';

CREATE TABLE omd.module (
    module_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    module_code text NOT NULL,
    module_description text,
    area_code text NOT NULL,
    table_code text NOT NULL,
    table_type_code text,
    platform_code text NOT NULL,
    executable text,
    business_key_columns text[],
    effective_date_column text NOT NULL DEFAULT 'omd_effective_date'::text,
    expiry_date_column text NOT NULL DEFAULT 'omd_expiry_date'::text,
    current_indicator_column text NOT NULL DEFAULT 'omd_current_record_indicator'::text,
    insert_instance_column text NOT NULL DEFAULT 'omd_insert_module_instance_id'::text,
    update_instance_column text NOT NULL DEFAULT 'omd_update_module_instance_id'::text,
    inactive_indicator text NOT NULL DEFAULT 'N'::text,
    table_format_code text,
    open_expiry_date text NOT NULL DEFAULT '9999-12-31'::text,
    module_kind_code text NOT NULL DEFAULT 'SPARK'::text,
    engine_code text DEFAULT 'SPARK'::text,
    job text,
    backoff interval NOT NULL DEFAULT '00:00:10'::interval,
    backoff_limit interval NOT NULL DEFAULT '01:00:00'::interval,
    max_failures integer NOT NULL DEFAULT 10,
    is_source boolean NOT NULL DEFAULT FALSE,
    awaits_return boolean NOT NULL DEFAULT FALSE,
    executing_from bigint NOT NULL DEFAULT 0,
    CONSTRAINT ck_module_code CHECK (module_code ~ '\S'::text),
    CONSTRAINT ck_module_table_code CHECK (table_code ~ '\S'::text),
    CONSTRAINT ck_module_inactive CHECK (inactive_indicator IN ('Y', 'N')),
    CONSTRAINT pk_module PRIMARY KEY (module_id),
    CONSTRAINT uq_module_code UNIQUE (module_code),
    CONSTRAINT fk_module_area FOREIGN KEY (area_code) REFERENCES omd.area (area_code),
    CONSTRAINT fk_module_table_type FOREIGN KEY (table_type_code) REFERENCES omd.table_type (
        table_type_code
    ),
    CONSTRAINT fk_module_platform FOREIGN KEY (platform_code) REFERENCES omd.platform (
        platform_code
    ),
    CONSTRAINT ck_module_engine CHECK (engine_code IN ('POSTGRES', 'SPARK')),
    CONSTRAINT ck_module_part CHECK ((engine_code IS NULL) = (module_kind_code = 'PART'::text)),
    CONSTRAINT ck_module_backoff CHECK (
        backoff >= '00:00:00'::interval AND backoff_limit >= '00:00:00'::interval
    ),
    CONSTRAINT ck_module_max_failures CHECK (max_failures >= 0)
);
CREATE INDEX ix_module_table ON omd.module (table_code);
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
COMMENT ON COLUMN omd.module.table_format_code IS
'Format of the target. PARQUET: rows can''t be deleted from it. ICEBERG, DELTA: OMD commits what '
'Spark writes. NULL: the session''s own SQL deletes rows.';
COMMENT ON COLUMN omd.module.open_expiry_date IS
'What the expiry date of a current record says, as text: 9999-12-31, infinity, …';
COMMENT ON COLUMN omd.module.module_kind_code IS 'What one run of the Module is.';
COMMENT ON COLUMN omd.module.engine_code IS
'Who performs a run: POSTGRES (the database) or SPARK (a worker process); NULL for PART.';
COMMENT ON COLUMN omd.module.job IS
'The function that is a run of a Module of kind SPARK, as module:function; NULL when the code '
'that runs it calls by itself.';
COMMENT ON COLUMN omd.module.backoff IS
'How long work waits after the first failure; it doubles with each further one in a row.';
COMMENT ON COLUMN omd.module.backoff_limit IS 'The longest such wait.';
COMMENT ON COLUMN omd.module.max_failures IS
'After so many failures in a row work waits for omd.retry; 0: never.';
COMMENT ON COLUMN omd.module.is_source IS
'TRUE: a topic or a stage reads a table that it writes, so the end of each run that wrote rows '
'moves the position of its source (runs.<module_code>).';
COMMENT ON COLUMN omd.module.awaits_return IS
'TRUE: a recall took runs of it back that must come again, so the next run that succeeds ends the '
'open entries of omd.module_return.';
COMMENT ON COLUMN omd.module.executing_from IS
'No instance of the Module with a lower id executes. Internal: a begin moves it now and then.';

CREATE TABLE omd.module_companion (
    module_id integer NOT NULL,
    companion_module_id integer NOT NULL,
    CONSTRAINT ck_module_companion_other CHECK (module_id <> companion_module_id),
    CONSTRAINT pk_module_companion PRIMARY KEY (module_id, companion_module_id),
    CONSTRAINT fk_module_companion_module FOREIGN KEY (module_id) REFERENCES omd.module (module_id),
    CONSTRAINT fk_module_companion_companion FOREIGN KEY (
        companion_module_id
    ) REFERENCES omd.module (module_id)
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
    inactive_indicator text NOT NULL DEFAULT 'N'::text,
    CONSTRAINT ck_batch_module_inactive CHECK (inactive_indicator IN ('Y', 'N')),
    CONSTRAINT pk_batch_module PRIMARY KEY (batch_id, module_id),
    CONSTRAINT fk_batch_module_batch FOREIGN KEY (batch_id) REFERENCES omd.batch (batch_id),
    CONSTRAINT fk_batch_module_module FOREIGN KEY (module_id) REFERENCES omd.module (module_id)
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
    inactive_indicator text NOT NULL DEFAULT 'N'::text,
    CONSTRAINT ck_batch_hierarchy_other CHECK (batch_id <> parent_batch_id),
    CONSTRAINT ck_batch_hierarchy_inactive CHECK (inactive_indicator IN ('Y', 'N')),
    CONSTRAINT pk_batch_hierarchy PRIMARY KEY (parent_batch_id, batch_id),
    CONSTRAINT fk_batch_hierarchy_batch FOREIGN KEY (batch_id) REFERENCES omd.batch (batch_id),
    CONSTRAINT fk_batch_hierarchy_parent FOREIGN KEY (parent_batch_id) REFERENCES omd.batch (
        batch_id
    )
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
    parameter_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    parameter_code text NOT NULL,
    parameter_description text,
    CONSTRAINT ck_parameter_code CHECK (parameter_code ~ '\S'::text),
    CONSTRAINT pk_parameter PRIMARY KEY (parameter_id),
    CONSTRAINT uq_parameter_code UNIQUE (parameter_code)
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
    rollback_template_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    area_code text,
    table_type_code text,
    platform_code text,
    module_id integer,
    step integer NOT NULL,
    statement_template text NOT NULL,
    table_format_code text,
    count_template text,
    keeps_rows boolean NOT NULL DEFAULT FALSE,
    statement_kind text NOT NULL GENERATED ALWAYS AS (
        CASE
            WHEN statement_template ~ '^CALL\s+omd\.undo\('::text THEN 'LAKE'::text
            WHEN
                statement_template
                ~ '^\s*ALTER TABLE \{table\} DROP IF EXISTS \{partition_list\}\s*$'::text
                THEN 'PARTITIONS'::text
            ELSE 'SQL'::text
        END
    ) STORED,
    CONSTRAINT pk_rollback_template PRIMARY KEY (rollback_template_id),
    CONSTRAINT fk_rollback_template_area FOREIGN KEY (area_code) REFERENCES omd.area (area_code),
    CONSTRAINT fk_rollback_template_table_type FOREIGN KEY (
        table_type_code
    ) REFERENCES omd.table_type (table_type_code),
    CONSTRAINT fk_rollback_template_platform FOREIGN KEY (platform_code) REFERENCES omd.platform (
        platform_code
    ),
    CONSTRAINT fk_rollback_template_module FOREIGN KEY (module_id) REFERENCES omd.module (
        module_id
    ),
    CONSTRAINT uq_rollback_template UNIQUE NULLS NOT DISTINCT (
        area_code, table_type_code, platform_code, table_format_code, module_id, step
    ),
    CONSTRAINT ck_rollback_template_owner CHECK (
        module_id IS NOT NULL
        AND area_code IS NULL
        AND table_type_code IS NULL
        AND platform_code IS NULL
        AND table_format_code IS NULL
        OR module_id IS NULL AND area_code IS NOT NULL AND platform_code IS NOT NULL
    )
);
CREATE INDEX ix_rollback_template_module ON omd.rollback_template (module_id) WHERE (
    module_id IS NOT NULL
);
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
'One statement. Filled in, quoted: {table}; {insert_instance_column}, {update_instance_column}, '
'{effective_date_column}, {expiry_date_column}, {current_indicator_column}; {key_columns} (k1, '
'k2) and {key_join} (t.k1 = c.k1 AND …; on Spark <=> for =, which also joins NULLs) of the '
'business key; {instance_array}, {instance_list}, {partition_list}: the instances to undo; '
'{table_literal}, {open_expiry_date}, {current_yes}, {current_no}: literals; {and_reset_update} '
'(, column = NULL). Without that column in the target, {update_instance_column} is NULL::bigint '
'and {and_reset_update} is empty.';
COMMENT ON COLUMN omd.rollback_template.table_format_code IS
'Format of the target; NULL: targets without one.';
COMMENT ON COLUMN omd.rollback_template.count_template IS
'A SELECT of the number of rows that the statement would touch, with the same placeholders, for a '
'dry run. NULL: it is not counted.';
COMMENT ON COLUMN omd.rollback_template.keeps_rows IS
'Rows with the insert instance id of an undone run may stay. FALSE: a rollback that leaves one in '
'a target in PostgreSQL is refused.';
COMMENT ON COLUMN omd.rollback_template.statement_kind IS
'What has to be done. SQL: the statement is executed as it is. PARTITIONS: before it drops the '
'partitions of the undone runs, their files are removed, also those that the catalogue does not '
'know. LAKE: nobody executes it; the driver commits to the lake tables that the runs wrote.';

CREATE TABLE omd.batch_instance (
    batch_instance_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
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
    statement_start timestamptz,
    backend_pid integer,
    started_by text,
    has_proceeded boolean,
    proceeded_datetime timestamptz,
    CONSTRAINT ck_batch_instance_placeholder CHECK (batch_id IS NOT NULL OR batch_instance_id = 0),
    CONSTRAINT ck_batch_instance_processing CHECK (processing_indicator::text <> 'R'::text),
    CONSTRAINT ck_batch_instance_end CHECK (
        (execution_status_code::text = 'E'::text) = (end_datetime IS NULL)
    ),
    CONSTRAINT pk_batch_instance PRIMARY KEY (batch_instance_id),
    CONSTRAINT fk_batch_instance_batch FOREIGN KEY (batch_id) REFERENCES omd.batch (batch_id)
) WITH (
    fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
CREATE INDEX ix_batch_instance_executing ON omd.batch_instance (
    batch_id, batch_instance_id
) WHERE ((execution_status_code)::text = 'E'::text);
CREATE INDEX ix_batch_instance_success ON omd.batch_instance (batch_id, batch_instance_id) WHERE (
    (execution_status_code)::text = 'S'::text
);
CREATE INDEX ix_batch_instance_failure ON omd.batch_instance (batch_id, batch_instance_id) WHERE (
    (execution_status_code)::text = 'F'::text
);
CREATE INDEX ix_batch_instance_directive ON omd.batch_instance (
    batch_id, batch_instance_id
) WHERE ((next_run_indicator)::text = ANY(ARRAY['C'::text, 'R'::text]));
CREATE INDEX ix_batch_instance_parent ON omd.batch_instance (parent_batch_instance_id) WHERE (
    parent_batch_instance_id <> 0
);
CREATE INDEX ix_batch_instance_batch ON omd.batch_instance (batch_id, batch_instance_id);
CREATE INDEX ix_batch_instance_start ON omd.batch_instance USING brin (start_datetime);
CREATE INDEX ix_batch_instance_task ON omd.batch_instance (
    ((execution_context ->> 'task_id'::text))
) WHERE ((execution_context ->> 'task_id'::text) IS NOT NULL);
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
'After this moment the run is declared dead, unless its lease is renewed; NULL when it has no '
'lease.';
COMMENT ON COLUMN omd.batch_instance.execution_status_code IS
'E executing, S succeeded, F failed, A aborted, C skipped.';
COMMENT ON COLUMN omd.batch_instance.processing_indicator IS
'P proceed, A abort, C skip. A until the evaluation has answered.';
COMMENT ON COLUMN omd.batch_instance.next_run_indicator IS
'P proceed, R roll everything back, C skip the next run once. Administrators may write it.';
COMMENT ON COLUMN omd.batch_instance.is_session_bound IS
'The run is alive as long as its statement executes (run_batch).';
COMMENT ON COLUMN omd.batch_instance.reason_code IS 'Why the evaluation aborted or skipped.';
COMMENT ON COLUMN omd.batch_instance.execution_context IS
'Where and by what it ran: platform, host, application id, …';
COMMENT ON COLUMN omd.batch_instance.statement_start IS
'When the statement that executes an in-database run began: its statement_timestamp().';
COMMENT ON COLUMN omd.batch_instance.backend_pid IS 'The backend that executes an in-database run.';
COMMENT ON COLUMN omd.batch_instance.started_by IS
'The role that connected and, after SET ROLE, the role it had taken on. NULL: before this was '
'recorded.';
COMMENT ON COLUMN omd.batch_instance.has_proceeded IS
'TRUE: an evaluation has answered P. NULL: the instance began before this was recorded.';
COMMENT ON COLUMN omd.batch_instance.proceeded_datetime IS
'When an evaluation in a later transaction than its creation let it proceed; NULL: at its start, '
'or never.';

CREATE TABLE omd.module_instance (
    module_instance_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
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
    rollback_instance_array bigint[] NOT NULL DEFAULT '{}'::bigint[],
    execution_context jsonb,
    companion_instance_array bigint[],
    statement_start timestamptz,
    backend_pid integer,
    started_by text,
    success_order bigint,
    newest_instance_id bigint,
    is_one_transaction boolean NOT NULL DEFAULT FALSE,
    has_proceeded boolean,
    proceeded_datetime timestamptz,
    CONSTRAINT ck_module_instance_end CHECK (
        (execution_status_code::text = 'E'::text) = (end_datetime IS NULL)
    ),
    CONSTRAINT pk_module_instance PRIMARY KEY (module_instance_id)
) WITH (
    fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
CREATE INDEX ix_module_instance_open ON omd.module_instance (module_id, module_instance_id) WHERE (
    ((execution_status_code)::text = 'E'::text)
    OR ((next_run_indicator)::text = 'C'::text)
    OR (
        (((execution_status_code)::text = 'F'::text) OR ((next_run_indicator)::text = 'R'::text))
        AND (rolled_back_by_module_instance_id IS NULL)
    )
);
CREATE INDEX ix_module_instance_restart ON omd.module_instance (next_run_batch_id) WHERE (
    next_run_batch_id IS NOT NULL
);
CREATE INDEX ix_module_instance_batch_instance ON omd.module_instance (
    batch_instance_id, module_id
) WHERE (batch_instance_id <> 0);
CREATE INDEX ix_module_instance_module ON omd.module_instance (module_id, module_instance_id);
CREATE INDEX ix_module_instance_start ON omd.module_instance USING brin (start_datetime);
CREATE INDEX ix_module_instance_task ON omd.module_instance (
    ((execution_context ->> 'task_id'::text))
) WHERE ((execution_context ->> 'task_id'::text) IS NOT NULL);
CREATE INDEX ix_module_instance_executing ON omd.module_instance (
    module_id, module_instance_id
) WHERE ((execution_status_code)::text = 'E'::text);
CREATE INDEX ix_module_instance_waiting ON omd.module_instance (
    module_id, module_instance_id
) WHERE (
    ((next_run_indicator)::text = 'C'::text)
    OR (
        (((execution_status_code)::text = 'F'::text) OR ((next_run_indicator)::text = 'R'::text))
        AND (rolled_back_by_module_instance_id IS NULL)
    )
);
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
'After this moment the run is declared dead, unless its lease is renewed; NULL when it has no '
'lease.';
COMMENT ON COLUMN omd.module_instance.rows_input IS 'Rows read.';
COMMENT ON COLUMN omd.module_instance.rows_inserted IS 'Rows inserted.';
COMMENT ON COLUMN omd.module_instance.rows_updated IS 'Rows updated.';
COMMENT ON COLUMN omd.module_instance.rows_deleted IS 'Rows deleted.';
COMMENT ON COLUMN omd.module_instance.rows_discarded IS 'Rows left out on purpose.';
COMMENT ON COLUMN omd.module_instance.rows_rejected IS 'Rows refused as bad.';
COMMENT ON COLUMN omd.module_instance.module_id IS
'The Module. NULL only on the placeholder row 0.';
COMMENT ON COLUMN omd.module_instance.next_run_batch_id IS
'The Batch whose partial restart set next_run_indicator to C: the skip is valid in reruns of that '
'Batch only. NULL: an administrator set it.';
COMMENT ON COLUMN omd.module_instance.execution_status_code IS
'E executing, S succeeded, F failed, A aborted, C skipped.';
COMMENT ON COLUMN omd.module_instance.processing_indicator IS
'P proceed, A abort, C skip, R roll back first. A until the evaluation has answered.';
COMMENT ON COLUMN omd.module_instance.next_run_indicator IS
'P proceed, R roll this instance back, C skip the next run once. Administrators may write it.';
COMMENT ON COLUMN omd.module_instance.is_session_bound IS
'The run is alive as long as its statement executes (run_module).';
COMMENT ON COLUMN omd.module_instance.reason_code IS 'Why the evaluation aborted or skipped.';
COMMENT ON COLUMN omd.module_instance.rollback_instance_array IS
'The instances that the evaluation told this run to undo, in ID order.';
COMMENT ON COLUMN omd.module_instance.execution_context IS
'Where and by what it ran: platform, host, application id, …';
COMMENT ON COLUMN omd.module_instance.companion_instance_array IS
'Instances of companion Modules that this run undoes together with rollback_instance_array; NULL '
'when there are none.';
COMMENT ON COLUMN omd.module_instance.statement_start IS
'When the statement that executes an in-database run began: its statement_timestamp().';
COMMENT ON COLUMN omd.module_instance.backend_pid IS
'The backend that executes an in-database run.';
COMMENT ON COLUMN omd.module_instance.started_by IS
'The role that connected and, after SET ROLE, the role it had taken on. NULL: before this was '
'recorded.';
COMMENT ON COLUMN omd.module_instance.success_order IS
'The number that its success has drawn, before its commit and after what it read; NULL: it has '
'not succeeded, or did so before this was recorded.';
COMMENT ON COLUMN omd.module_instance.newest_instance_id IS
'The newest instance when it ended with S or F: it can have read rows of this and older ones; '
'NULL: it has not ended, or did so before this was recorded.';
COMMENT ON COLUMN omd.module_instance.is_one_transaction IS
'Its rows and its success are one transaction, so nobody has read them before; an in-database run '
'(is_session_bound) always is. FALSE: its rows may be visible from its begin on.';
COMMENT ON COLUMN omd.module_instance.has_proceeded IS
'TRUE: an evaluation has answered P or R. NULL: the instance began before this was recorded.';
COMMENT ON COLUMN omd.module_instance.proceeded_datetime IS
'When an evaluation in a later transaction than its creation let it proceed; NULL: at its start, '
'or never.';

CREATE TABLE omd.source_control (
    module_instance_id bigint NOT NULL,
    start_id bigint,
    end_id bigint,
    start_value timestamptz,
    end_value timestamptz,
    module_id integer NOT NULL,
    is_taken_back boolean NOT NULL DEFAULT FALSE,
    source_code text,
    CONSTRAINT ck_source_control_end CHECK (end_value IS NOT NULL OR end_id IS NOT NULL),
    CONSTRAINT pk_source_control PRIMARY KEY (module_instance_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX ix_source_control_module ON omd.source_control (module_id, module_instance_id);
CREATE INDEX ix_source_control_source ON omd.source_control (source_code, end_id) WHERE (
    source_code IS NOT NULL
);
CREATE INDEX ix_source_control_block ON omd.source_control (
    module_id, source_code, end_id, module_instance_id
) WHERE (source_code IS NOT NULL);
COMMENT ON TABLE omd.source_control IS
'The load window of a Module Instance: (start, end], each a pair of timestamp and id, either part '
'optional. No foreign key: only omd routines write here.';
COMMENT ON COLUMN omd.source_control.module_instance_id IS 'The instance that reads the window.';
COMMENT ON COLUMN omd.source_control.start_id IS 'Start of the window, exclusive: id part.';
COMMENT ON COLUMN omd.source_control.end_id IS 'End of the window, inclusive: id part.';
COMMENT ON COLUMN omd.source_control.start_value IS
'Start of the window, exclusive: timestamp part.';
COMMENT ON COLUMN omd.source_control.end_value IS 'End of the window, inclusive: timestamp part.';
COMMENT ON COLUMN omd.source_control.module_id IS
'The Module of the instance, here so that one index finds its newest window.';
COMMENT ON COLUMN omd.source_control.is_taken_back IS
'The load window was withdrawn, since its instance was rolled back. It is kept for audit, and no '
'reader counts it.';
COMMENT ON COLUMN omd.source_control.source_code IS
'The source (omd.source) whose positions the window has; NULL: it is about another one.';

CREATE TABLE omd.event_log (
    event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    batch_instance_id bigint NOT NULL DEFAULT 0,
    module_instance_id bigint NOT NULL DEFAULT 0,
    event_datetime timestamptz NOT NULL,
    error_bitmap bigint NOT NULL DEFAULT 0,
    event_type_code integer NOT NULL,
    event_return_code_details text,
    event_detail text,
    reason text DEFAULT nullif(current_setting('omd.reason'::text, TRUE), ''::text),
    CONSTRAINT pk_event_log PRIMARY KEY (event_id),
    CONSTRAINT fk_event_log_event_type FOREIGN KEY (event_type_code) REFERENCES omd.event_type (
        event_type_code
    )
);
CREATE INDEX ix_event_log_batch_instance ON omd.event_log (batch_instance_id) WHERE (
    batch_instance_id <> 0
);
CREATE INDEX ix_event_log_module_instance ON omd.event_log (module_instance_id) WHERE (
    module_instance_id <> 0
);
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
COMMENT ON COLUMN omd.event_log.reason IS
'Why, as the setting omd.reason of the session says; NULL: it says nothing.';

CREATE TABLE omd.table_format (
    table_format_code text NOT NULL,
    table_format_description text NOT NULL,
    CONSTRAINT ck_table_format_code CHECK (table_format_code <> ''::text),
    CONSTRAINT pk_table_format PRIMARY KEY (table_format_code)
);
COMMENT ON TABLE omd.table_format IS
'Formats of target tables that can''t be rolled back row by row. A format has templates of its '
'own, and no others.';
COMMENT ON COLUMN omd.table_format.table_format_code IS 'Name of the format.';
COMMENT ON COLUMN omd.table_format.table_format_description IS 'How such a table is rolled back.';

CREATE TABLE omd.write_ledger (
    module_instance_id bigint NOT NULL,
    write_number bigint NOT NULL,
    row_count omd.row_count NOT NULL,
    write_datetime timestamptz NOT NULL,
    partition_number integer NOT NULL,
    table_code text NOT NULL,
    CONSTRAINT pk_write_ledger PRIMARY KEY (
        module_instance_id, write_number, partition_number, table_code
    )
);
COMMENT ON TABLE omd.write_ledger IS
'One row per partition of a write that was committed, inserted in the transaction of its rows. A '
'second attempt of the same partition finds it and discards its own. No foreign key: only omd '
'routines write here.';
COMMENT ON COLUMN omd.write_ledger.module_instance_id IS 'The run that wrote.';
COMMENT ON COLUMN omd.write_ledger.write_number IS
'Tells the writes of one run apart: the same for all partitions, and all attempts, of one write.';
COMMENT ON COLUMN omd.write_ledger.row_count IS 'Rows of the partition.';
COMMENT ON COLUMN omd.write_ledger.write_datetime IS 'When it was written, just before its commit.';
COMMENT ON COLUMN omd.write_ledger.partition_number IS
'The partition of the write; the same for all its attempts.';
COMMENT ON COLUMN omd.write_ledger.table_code IS 'The table written to, as its writer names it.';

CREATE TABLE omd.undo_listener (
    routine text NOT NULL,
    CONSTRAINT pk_undo_listener PRIMARY KEY (routine)
);
COMMENT ON TABLE omd.undo_listener IS
'Functions of rooms that know who reads a table. omd.tell_undo calls each when rows are undone '
'that others may have read. A room enters its own when it is installed.';
COMMENT ON COLUMN omd.undo_listener.routine IS
'A function (table schema.table, from which moment on, the oldest run that was undone) that '
'answers who reads the table: module_id, reader (its name), source_code (the table by which it is '
'read), is_whole (each run replaces all of its rows), has_positions (the windows of the reader '
'are positions in the table), way_out (the call that makes its rows again).';

CREATE TABLE omd.read_bound (
    schema_pattern text NOT NULL,
    routine text NOT NULL,
    base_routine text,
    CONSTRAINT pk_read_bound PRIMARY KEY (schema_pattern)
);
COMMENT ON TABLE omd.read_bound IS
'Schemas whose tables and views may be read up to a moment that a room knows, and not up to now. '
'A room enters its own when it is installed.';
COMMENT ON COLUMN omd.read_bound.schema_pattern IS 'The names of the schemas, as LIKE takes them.';
COMMENT ON COLUMN omd.read_bound.routine IS
'A function (relation schema.name, the column that is read by; NULL: not known) that answers up '
'to which moment all rows are there; NULL: it does not know the relation or the column.';
COMMENT ON COLUMN omd.read_bound.base_routine IS
'A function (OID of the relation) that answers the tables for which the relation stands where '
'somebody reads it; NULL: it stands for itself.';

CREATE TABLE omd.undone_read (
    undone_read_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    undone_instance_id bigint NOT NULL,
    last_instance_id bigint NOT NULL,
    noted_at timestamptz NOT NULL,
    from_datetime timestamptz,
    module_id integer NOT NULL,
    is_whole boolean NOT NULL,
    has_positions boolean NOT NULL,
    table_code text NOT NULL,
    source_code text NOT NULL,
    reader text NOT NULL,
    way_out text NOT NULL,
    CONSTRAINT pk_undone_read PRIMARY KEY (undone_read_id),
    CONSTRAINT fk_undone_read_module FOREIGN KEY (module_id) REFERENCES omd.module (
        module_id
    ) ON DELETE CASCADE
);
CREATE INDEX ix_undone_read_module ON omd.undone_read (module_id);
COMMENT ON TABLE omd.undone_read IS
'Who had read rows that were undone later. A row stays until the runs that read them are gone, or '
'replaced, and the next undo is told.';
COMMENT ON COLUMN omd.undone_read.undone_read_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.undone_read.undone_instance_id IS
'The oldest Module Instance that was undone. Runs before it have read nothing of it.';
COMMENT ON COLUMN omd.undone_read.last_instance_id IS
'The newest Module Instance when it was undone. Runs after it have read what is right.';
COMMENT ON COLUMN omd.undone_read.noted_at IS 'When it was undone.';
COMMENT ON COLUMN omd.undone_read.from_datetime IS
'From which position on rows were undone; NULL: all may have been.';
COMMENT ON COLUMN omd.undone_read.module_id IS 'The Module of the reader.';
COMMENT ON COLUMN omd.undone_read.is_whole IS 'Each run of the reader replaces all of its rows.';
COMMENT ON COLUMN omd.undone_read.has_positions IS
'The load windows of the reader are positions in the table.';
COMMENT ON COLUMN omd.undone_read.table_code IS 'The table whose rows were undone.';
COMMENT ON COLUMN omd.undone_read.source_code IS 'The table or view by which the reader reads it.';
COMMENT ON COLUMN omd.undone_read.reader IS 'The reader, by its name.';
COMMENT ON COLUMN omd.undone_read.way_out IS 'The call that makes the rows of the reader again.';

CREATE TABLE omd.module_kind (
    module_kind_code text NOT NULL,
    begin_routine text,
    end_routine text,
    keeps_settings boolean NOT NULL DEFAULT FALSE,
    is_batch boolean NOT NULL DEFAULT FALSE,
    CONSTRAINT ck_module_kind_routines CHECK ((begin_routine IS NULL) = (end_routine IS NULL)),
    CONSTRAINT pk_module_kind PRIMARY KEY (module_kind_code)
);
COMMENT ON TABLE omd.module_kind IS
'What one run of a Module can be. A room enters its kinds when it is installed.';
COMMENT ON COLUMN omd.module_kind.module_kind_code IS
'SQL, SPARK, PART (never on its own), or a kind of another room.';
COMMENT ON COLUMN omd.module_kind.begin_routine IS
'A procedure that begins a run and does not commit: (p_module_code text, p_batch_instance_id '
'bigint, p_execution_context jsonb, INOUT p_outcome text, INOUT p_module_instance_id bigint, '
'INOUT p_executable text, INOUT p_detail text). p_outcome: RUN (execute p_executable), NOTHING, '
'BUSY (another works at it), SKIPPED or FAILED (recorded; nothing began). NULL: the database '
'performs no run of this kind.';
COMMENT ON COLUMN omd.module_kind.end_routine IS
'A procedure that is called when such a run has ended, and does not commit: (p_module_instance_id '
'bigint, p_execution_status_code text, INOUT p_is_more boolean). p_is_more: more is left of what '
'was there at the moment that the setting omd.first_begin names.';
COMMENT ON COLUMN omd.module_kind.keeps_settings IS
'What a run executes changes no setting of the session, so nothing has to be set back.';
COMMENT ON COLUMN omd.module_kind.is_batch IS
'A run of such a Module is a run of the Batch of the same code, so its failures count for the '
'Module.';

CREATE TABLE omd.module_state (
    module_id integer NOT NULL,
    failures bigint NOT NULL,
    looks bigint NOT NULL,
    not_before timestamptz,
    failed_since timestamptz,
    last_problem text,
    last_code text,
    last_module_instance_id bigint,
    looked_datetime timestamptz,
    last_claim_token bigint,
    CONSTRAINT ck_module_state_counts CHECK (failures >= 0 AND looks >= 0),
    CONSTRAINT pk_module_state PRIMARY KEY (module_id),
    CONSTRAINT fk_module_state_module FOREIGN KEY (module_id) REFERENCES omd.module (
        module_id
    ) ON DELETE CASCADE
) WITH (fillfactor = 50);
COMMENT ON TABLE omd.module_state IS
'Modules that have failed since their last success, or had nothing to do when they were ready. A '
'success removes the row.';
COMMENT ON COLUMN omd.module_state.module_id IS 'The Module.';
COMMENT ON COLUMN omd.module_state.failures IS 'How often it has failed since its last success.';
COMMENT ON COLUMN omd.module_state.looks IS
'How often in a row it was ready and had nothing to do.';
COMMENT ON COLUMN omd.module_state.not_before IS
'Until when its work waits; NULL: it does not wait.';
COMMENT ON COLUMN omd.module_state.failed_since IS
'When the first of these failures was; NULL: none was.';
COMMENT ON COLUMN omd.module_state.last_problem IS
'The last failure in one line, without values of rows.';
COMMENT ON COLUMN omd.module_state.last_code IS
'Its code, such as an SQLSTATE; GIVEN UP: the run was declared dead. NULL: there is none.';
COMMENT ON COLUMN omd.module_state.last_module_instance_id IS
'The last Module Instance that was counted; NULL: it failed before it had one.';
COMMENT ON COLUMN omd.module_state.looked_datetime IS
'The last look that found nothing, while not_before is its pause; NULL otherwise.';
COMMENT ON COLUMN omd.module_state.last_claim_token IS
'The claim of the task that has failed last; NULL: no task has.';

CREATE TABLE omd.source_kind (
    source_kind_code text NOT NULL,
    show_routine text,
    check_routine text,
    plan_routine text,
    next_routine text,
    view_routine text,
    at_routine text,
    CONSTRAINT pk_source_kind PRIMARY KEY (source_kind_code)
);
COMMENT ON TABLE omd.source_kind IS
'Kinds of sources. A room enters its own routines when it is installed, and whoever reads a block '
'of a source calls them by these names.';
COMMENT ON COLUMN omd.source_kind.source_kind_code IS
'FACTS: the facts of an interface. LAKE: a table of a lake. RUNS: a table that Modules write.';
COMMENT ON COLUMN omd.source_kind.show_routine IS
'A function (source, the id that the block begins after, the id that it ends at) that lets the '
'views of the source show this block until the transaction ends; NULL: they need no call.';
COMMENT ON COLUMN omd.source_kind.check_routine IS
'A function (source, the id that a block ends at) that answers whether a block may end there, as '
'an undo has not reached over its end since it was planned; NULL: it always may.';
COMMENT ON COLUMN omd.source_kind.plan_routine IS
'A function (source, the tables that are read, the position pos and id that the block begins '
'after, the time before which it ends, how many keys it may have) that plans a block: its end '
'(p_end_pos and p_end_id, NULL: there is nothing new), p_key_count, p_is_full and p_min_pos; '
'NULL: a block of this kind is planned by its rows.';
COMMENT ON COLUMN omd.source_kind.next_routine IS
'A function (source, position pos and id) that answers the oldest position behind it: pos, or '
'NULL; NULL: nobody knows more than the newest one.';
COMMENT ON COLUMN omd.source_kind.view_routine IS
'A function (table or view) that answers the view by which a block of it is read, and raises an '
'error where there is none; NULL: a block is read from the table itself.';
COMMENT ON COLUMN omd.source_kind.at_routine IS
'A function (source, time) that answers the id of its newest position up to then; NULL: none.';

CREATE TABLE omd.source (
    source_code text NOT NULL,
    source_kind_code text NOT NULL,
    pos timestamptz NOT NULL DEFAULT '-infinity'::timestamp with time zone,
    id bigint NOT NULL DEFAULT 0,
    closed_until timestamptz,
    former_pos timestamptz NOT NULL DEFAULT '-infinity'::timestamp with time zone,
    former_id bigint NOT NULL DEFAULT 0,
    CONSTRAINT pk_source PRIMARY KEY (source_code),
    CONSTRAINT fk_source_kind FOREIGN KEY (source_kind_code) REFERENCES omd.source_kind (
        source_kind_code
    )
) WITH (fillfactor = 50);
COMMENT ON TABLE omd.source IS
'Up to where each source has come. Whoever makes rows of it moves it in the commit of these rows. '
'A run that reads holds the row FOR KEY SHARE, who takes rows back holds it FOR UPDATE. Several '
'are taken in the order of source_code.';
COMMENT ON COLUMN omd.source.source_code IS
'The source: facts.<interface>, the table of a lake, the Module or table of runs.';
COMMENT ON COLUMN omd.source.source_kind_code IS 'Its kind.';
COMMENT ON COLUMN omd.source.pos IS
'Its newest position: the time of the newest change, commit or run; -infinity: there is none.';
COMMENT ON COLUMN omd.source.id IS
'The number of that change, commit or run, between those of the same time; 0: there is none.';
COMMENT ON COLUMN omd.source.closed_until IS
'Until then no run begins to read it, since somebody waits for those at work to take rows back; '
'NULL: nobody ever did.';
COMMENT ON COLUMN omd.source.former_pos IS
'The position before the newest one: who has read up to here misses the newest one alone.';
COMMENT ON COLUMN omd.source.former_id IS 'The number of that change, commit or run.';

CREATE TABLE omd.source_table (
    table_code text NOT NULL,
    source_code text NOT NULL,
    CONSTRAINT pk_source_table PRIMARY KEY (table_code, source_code),
    CONSTRAINT fk_source_table_source FOREIGN KEY (source_code) REFERENCES omd.source (
        source_code
    ) ON DELETE CASCADE
);
CREATE INDEX ix_source_table_source ON omd.source_table (source_code);
COMMENT ON TABLE omd.source_table IS 'The tables and views by which each source is read.';
COMMENT ON COLUMN omd.source_table.table_code IS 'The table or view, schema.name.';
COMMENT ON COLUMN omd.source_table.source_code IS 'The source that its rows come from.';

CREATE TABLE omd.source_reader (
    module_id integer NOT NULL,
    table_code text NOT NULL,
    source_code text NOT NULL,
    passed_id bigint,
    CONSTRAINT pk_source_reader PRIMARY KEY (module_id, table_code),
    CONSTRAINT fk_source_reader_module FOREIGN KEY (module_id) REFERENCES omd.module (
        module_id
    ) ON DELETE CASCADE,
    CONSTRAINT fk_source_reader_source FOREIGN KEY (source_code) REFERENCES omd.source (
        source_code
    ) ON DELETE CASCADE
);
CREATE INDEX ix_source_reader_source ON omd.source_reader (source_code);
COMMENT ON TABLE omd.source_reader IS
'The Modules that read a source by its positions, and by which of its tables and views. A room '
'enters a Module when it is registered.';
COMMENT ON COLUMN omd.source_reader.module_id IS 'The Module.';
COMMENT ON COLUMN omd.source_reader.table_code IS 'The table or view that it reads, schema.name.';
COMMENT ON COLUMN omd.source_reader.source_code IS 'The source.';
COMMENT ON COLUMN omd.source_reader.passed_id IS
'The position up to which it has passed without a window, since there was nothing for it; NULL: '
'its newest window says how far it has come.';

CREATE TABLE omd.module_return (
    recall_id bigint NOT NULL,
    position integer NOT NULL,
    module_id integer NOT NULL,
    is_by_hand boolean NOT NULL,
    former_instances bigint[] NOT NULL DEFAULT '{}'::bigint[],
    former_delivery_id bigint,
    snapshot_datetime timestamptz,
    start_value timestamptz,
    start_id bigint,
    module_instance_id bigint,
    delivery_id bigint,
    ended_datetime timestamptz,
    drop_reason text,
    problem text,
    upstream integer[] NOT NULL DEFAULT '{}'::integer[],
    noted_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_module_return PRIMARY KEY (recall_id, position),
    CONSTRAINT fk_module_return_module FOREIGN KEY (module_id) REFERENCES omd.module (module_id)
);
CREATE INDEX ix_module_return_open ON omd.module_return (module_id, snapshot_datetime) WHERE (
    ended_datetime IS NULL
);
COMMENT ON TABLE omd.module_return IS
'Runs and deliveries that a recall took back and that must come again from outside: deliveries, '
'and runs of kind SQL and SPARK. An entry is open until ended_datetime.';
COMMENT ON COLUMN omd.module_return.recall_id IS 'The recall.';
COMMENT ON COLUMN omd.module_return.position IS 'The place in it, in the order of coming.';
COMMENT ON COLUMN omd.module_return.module_id IS
'The Module that is to run again; of a delivery that of its agreement.';
COMMENT ON COLUMN omd.module_return.is_by_hand IS
'A person must bring it; else a worker does when it is due.';
COMMENT ON COLUMN omd.module_return.former_instances IS 'The runs that were taken back.';
COMMENT ON COLUMN omd.module_return.former_delivery_id IS
'The delivery that was taken back; NULL: it is no delivery.';
COMMENT ON COLUMN omd.module_return.snapshot_datetime IS
'The snapshot of that delivery; NULL: it is no delivery.';
COMMENT ON COLUMN omd.module_return.start_value IS
'Where the first load window of the runs began; NULL: they had none.';
COMMENT ON COLUMN omd.module_return.start_id IS 'The id of that position.';
COMMENT ON COLUMN omd.module_return.module_instance_id IS
'The run that fills the entry; NULL: none yet.';
COMMENT ON COLUMN omd.module_return.delivery_id IS
'The delivery that fills the entry, or is to; NULL: none yet.';
COMMENT ON COLUMN omd.module_return.ended_datetime IS
'When it was filled or dropped; NULL: it is open.';
COMMENT ON COLUMN omd.module_return.drop_reason IS
'Why it will not come; NULL: it was not dropped.';
COMMENT ON COLUMN omd.module_return.problem IS 'Why it can''t come by itself; NULL: nothing.';
COMMENT ON COLUMN omd.module_return.upstream IS
'The Modules whose runs went in the same recall and which these runs had read, directly or not: '
'the entry is due when they have come again.';
COMMENT ON COLUMN omd.module_return.noted_datetime IS 'When the entry was made.';

CREATE TABLE omd.undone_run (
    module_instance_id bigint NOT NULL,
    undone_by bigint NOT NULL,
    undone_datetime timestamptz NOT NULL,
    transaction_id xid8,
    undone_upto bigint,
    looked_datetime timestamptz NOT NULL DEFAULT '-infinity'::timestamp with time zone,
    is_forgotten boolean NOT NULL DEFAULT FALSE,
    CONSTRAINT pk_undone_run PRIMARY KEY (module_instance_id)
);
CREATE INDEX ix_undone_run_unsettled ON omd.undone_run (module_instance_id) WHERE (
    undone_upto IS NULL
);
CREATE INDEX ix_undone_run_looked ON omd.undone_run (looked_datetime) WHERE (NOT is_forgotten);
COMMENT ON TABLE omd.undone_run IS 'The runs whose rows were taken back, whatever did it.';
COMMENT ON COLUMN omd.undone_run.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd.undone_run.undone_by IS
'The run that undid it; the run itself where none did, as when a delivery is reverted.';
COMMENT ON COLUMN omd.undone_run.undone_datetime IS 'When.';
COMMENT ON COLUMN omd.undone_run.transaction_id IS
'The transaction that took its rows back; NULL: it ended on another server.';
COMMENT ON COLUMN omd.undone_run.undone_upto IS
'The newest instance at a look after the commit of the undo: a run with a greater id has not read '
'the rows; NULL: nobody has looked yet.';
COMMENT ON COLUMN omd.undone_run.looked_datetime IS
'When somebody looked whether a run that stands has read it.';
COMMENT ON COLUMN omd.undone_run.is_forgotten IS
'None has, and none that executes can have: nobody has to look again.';

CREATE TABLE omd.module_declaration (
    declaration_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
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
    CONSTRAINT ck_module_declaration_origin CHECK (origin IN ('ROOM', 'HAND', 'CATALOGUE')),
    CONSTRAINT pk_module_declaration PRIMARY KEY (declaration_id),
    CONSTRAINT fk_module_declaration_module FOREIGN KEY (module_id) REFERENCES omd.module (
        module_id
    ) ON DELETE CASCADE
);
CREATE INDEX ix_module_declaration_module ON omd.module_declaration (module_id, after_id);
CREATE UNIQUE INDEX uq_module_declaration_open ON omd.module_declaration (
    module_id, origin
) WHERE (upto_id IS NULL);
CREATE INDEX ix_module_declaration_looked ON omd.module_declaration (looked_datetime) WHERE (
    upto_id IS NULL
);
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
    CONSTRAINT ck_module_input_kind CHECK (read_kind IN ('ALL', 'WINDOW', 'RUNS')),
    CONSTRAINT pk_module_input PRIMARY KEY (declaration_id, table_code, declared_code, read_kind),
    CONSTRAINT fk_module_input_declaration FOREIGN KEY (
        declaration_id
    ) REFERENCES omd.module_declaration (declaration_id) ON DELETE CASCADE
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
CREATE INDEX ix_run_input_table ON omd.run_input (table_code, module_instance_id) WHERE (
    source_instances IS NULL
);
CREATE INDEX ix_run_input_source ON omd.run_input USING gin (source_instances) WHERE (
    source_instances IS NOT NULL
);
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
    CONSTRAINT fk_module_read_module FOREIGN KEY (module_id) REFERENCES omd.module (
        module_id
    ) ON DELETE CASCADE
);
CREATE INDEX ix_module_read_table ON omd.module_read (table_code);
COMMENT ON TABLE omd.module_read IS
'The tables that some run of a Module has recorded: its next run may read them again.';
COMMENT ON COLUMN omd.module_read.module_id IS 'The Module.';
COMMENT ON COLUMN omd.module_read.table_code IS 'The table, as in omd.run_input.';

CREATE TABLE omd.maintenance (
    routine text NOT NULL,
    every interval NOT NULL,
    begun_datetime timestamptz NOT NULL DEFAULT '-infinity'::timestamp with time zone,
    CONSTRAINT ck_maintenance_every CHECK (every > '00:00:00'::interval),
    CONSTRAINT pk_maintenance PRIMARY KEY (routine)
);
COMMENT ON TABLE omd.maintenance IS
'What workers do between tasks. A room enters its own routines when it is installed.';
COMMENT ON COLUMN omd.maintenance.routine IS 'A function without parameters.';
COMMENT ON COLUMN omd.maintenance.every IS 'The time between two calls, whoever calls.';
COMMENT ON COLUMN omd.maintenance.begun_datetime IS 'When it was called last.';

CREATE TABLE omd.window_return (
    window_return_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    module_id integer NOT NULL,
    recall_id bigint NOT NULL,
    start_value timestamptz,
    start_id bigint,
    end_value timestamptz,
    end_id bigint,
    source_code text,
    former_instances bigint[] NOT NULL,
    module_instance_id bigint,
    noted_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_datetime timestamptz,
    CONSTRAINT pk_window_return PRIMARY KEY (window_return_id),
    CONSTRAINT fk_window_return_module FOREIGN KEY (module_id) REFERENCES omd.module (
        module_id
    ) ON DELETE CASCADE
);
CREATE INDEX ix_window_return_module ON omd.window_return (module_id, start_value, start_id);
CREATE INDEX ix_window_return_open ON omd.window_return (module_id) WHERE (ended_datetime IS NULL);
CREATE INDEX ix_window_return_instance ON omd.window_return (module_instance_id) WHERE (
    module_instance_id IS NOT NULL
);
COMMENT ON TABLE omd.window_return IS
'Load windows of topics and stages that a recall took back and that are to be taken again, each '
'by a run of its own. A row is open until ended_datetime.';
COMMENT ON COLUMN omd.window_return.window_return_id IS 'Surrogate key, in order.';
COMMENT ON COLUMN omd.window_return.module_id IS 'The Module.';
COMMENT ON COLUMN omd.window_return.recall_id IS 'The recall.';
COMMENT ON COLUMN omd.window_return.start_value IS
'Start of the window, exclusive; NULL: it has none, or begins at the beginning.';
COMMENT ON COLUMN omd.window_return.start_id IS 'The id of its start.';
COMMENT ON COLUMN omd.window_return.end_value IS
'End of the window, inclusive; NULL with end_id: the run had no window, and reads all there is.';
COMMENT ON COLUMN omd.window_return.end_id IS 'The id of its end.';
COMMENT ON COLUMN omd.window_return.source_code IS
'The source whose positions it has (omd.source); NULL: another one.';
COMMENT ON COLUMN omd.window_return.former_instances IS
'The runs whose window it was: the one that was taken back, and those that it had superseded.';
COMMENT ON COLUMN omd.window_return.module_instance_id IS
'The run that takes it again, or has tried; NULL: none has begun.';
COMMENT ON COLUMN omd.window_return.noted_datetime IS 'When it was taken back.';
COMMENT ON COLUMN omd.window_return.ended_datetime IS
'When it was taken again, or was read by another run; NULL: it is open.';

CREATE TABLE omd.pending_recall (
    module_instance_id bigint NOT NULL,
    recall_id bigint NOT NULL,
    noted_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_pending_recall PRIMARY KEY (module_instance_id),
    CONSTRAINT fk_pending_recall_instance FOREIGN KEY (
        module_instance_id
    ) REFERENCES omd.module_instance (module_instance_id) ON DELETE CASCADE
);
COMMENT ON TABLE omd.pending_recall IS
'Runs that a recall takes back whose rows the session could not undo: they go with the next begin '
'of their Module, and until then nobody reads its tables.';
COMMENT ON COLUMN omd.pending_recall.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd.pending_recall.recall_id IS 'The recall.';
COMMENT ON COLUMN omd.pending_recall.noted_datetime IS 'When.';

CREATE TABLE omd.before_purge (
    schema_name text NOT NULL,
    before_routine text NOT NULL,
    needed_routine text NOT NULL,
    CONSTRAINT pk_before_purge PRIMARY KEY (schema_name)
);
COMMENT ON TABLE omd.before_purge IS
'What rooms that follow the instances do before omd.purge_history deletes. A room enters its own '
'routines when it is installed, and they are called by these names.';
COMMENT ON COLUMN omd.before_purge.schema_name IS 'The room.';
COMMENT ON COLUMN omd.before_purge.before_routine IS
'A function without parameters that takes note of what has ended, called until it answers 0; '
'NULL: another session is at it.';
COMMENT ON COLUMN omd.before_purge.needed_routine IS
'A function (MODULE or BATCH, ids) that answers which of these instances it still needs.';

CREATE TABLE omd.installation (
    is_only boolean NOT NULL DEFAULT TRUE,
    installation_id uuid NOT NULL DEFAULT gen_random_uuid(),
    installed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    system_identifier bigint,
    database_oid oid,
    is_copy boolean NOT NULL DEFAULT FALSE,
    product_version text,
    timeline_id integer,
    server_start timestamptz,
    table_oid oid,
    on_failover text NOT NULL DEFAULT 'GO_ON'::text,
    CONSTRAINT ck_installation_only CHECK (is_only),
    CONSTRAINT pk_installation PRIMARY KEY (is_only),
    CONSTRAINT ck_installation_on_failover CHECK (on_failover IN ('GO_ON', 'ASK'))
);
COMMENT ON TABLE omd.installation IS
'Who this installation is to programs outside, and the server on which it was seen: one row.';
COMMENT ON COLUMN omd.installation.is_only IS 'TRUE: there is one row.';
COMMENT ON COLUMN omd.installation.installation_id IS
'Its identity: run ids and events are made of it. A copy that is confirmed gets another one.';
COMMENT ON COLUMN omd.installation.installed_at IS 'When it got its identity.';
COMMENT ON COLUMN omd.installation.system_identifier IS 'The identifier of the server.';
COMMENT ON COLUMN omd.installation.database_oid IS 'The OID of the database there.';
COMMENT ON COLUMN omd.installation.is_copy IS
'TRUE: somebody has confirmed that this is a copy of another installation.';
COMMENT ON COLUMN omd.installation.product_version IS 'The version that was installed last.';
COMMENT ON COLUMN omd.installation.timeline_id IS 'The timeline of the server.';
COMMENT ON COLUMN omd.installation.server_start IS 'When the server was started.';
COMMENT ON COLUMN omd.installation.table_oid IS
'The OID of this table: after a dump was restored it has another one, on the same server too.';
COMMENT ON COLUMN omd.installation.on_failover IS
'GO_ON: after a failover all go on. ASK: workers wait until an administrator has confirmed it.';

INSERT INTO omd.installation DEFAULT VALUES;

CREATE TABLE omd.server_change (
    server_change_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    noticed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind text NOT NULL,
    system_identifier bigint,
    confirmed_as text,
    confirmed_at timestamptz,
    confirmed_by text,
    reason text,
    timeline_id integer,
    ids_skipped bigint,
    is_asked boolean NOT NULL DEFAULT FALSE,
    CONSTRAINT ck_server_change_confirmed CHECK (confirmed_as IN ('MOVED', 'COPY')),
    CONSTRAINT pk_server_change PRIMARY KEY (server_change_id),
    CONSTRAINT ck_server_change_kind CHECK (kind IN ('FAILOVER', 'MOVED', 'COPIED'))
);
COMMENT ON TABLE omd.server_change IS
'When the database was found on another server, timeline or OID, and what an administrator said '
'about it.';
COMMENT ON COLUMN omd.server_change.server_change_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.server_change.noticed_at IS 'When it was noticed.';
COMMENT ON COLUMN omd.server_change.kind IS
'FAILOVER: the server has another timeline, or a dump was restored over this database. MOVED: the '
'server has another identifier. COPIED: the database has another OID.';
COMMENT ON COLUMN omd.server_change.system_identifier IS 'The identifier of the server then.';
COMMENT ON COLUMN omd.server_change.confirmed_as IS
'MOVED: this is the installation now. COPY: the other one goes on. NULL: nobody has said.';
COMMENT ON COLUMN omd.server_change.confirmed_at IS 'When somebody said it.';
COMMENT ON COLUMN omd.server_change.confirmed_by IS 'Who said it.';
COMMENT ON COLUMN omd.server_change.reason IS 'Why.';
COMMENT ON COLUMN omd.server_change.timeline_id IS 'The timeline of the server then.';
COMMENT ON COLUMN omd.server_change.ids_skipped IS
'So many numbers of each sequence were passed over, so that no ID is given twice; NULL: none.';
COMMENT ON COLUMN omd.server_change.is_asked IS
'TRUE: workers wait for the confirmation of this FAILOVER too, as installation.on_failover said. '
'They always wait for that of MOVED and COPIED.';

CREATE TABLE omd.server_routine (
    schema_name text NOT NULL,
    routine text NOT NULL,
    skip_routine text,
    CONSTRAINT pk_server_routine PRIMARY KEY (schema_name)
);
COMMENT ON TABLE omd.server_routine IS
'What each room does when an administrator confirms the server. A room enters its own routine '
'when it is installed, and omd.confirm_server calls it by this name.';
COMMENT ON COLUMN omd.server_routine.schema_name IS 'The room.';
COMMENT ON COLUMN omd.server_routine.routine IS 'A function (MOVED or COPY).';
COMMENT ON COLUMN omd.server_routine.skip_routine IS
'A function (bigint) that passes over so many of the numbers that the room counts in a table; '
'NULL: it counts none.';

CREATE TABLE omd.server_bound (
    schema_name text NOT NULL,
    table_name text NOT NULL,
    column_name text NOT NULL,
    on_change text NOT NULL,
    row_condition text,
    CONSTRAINT ck_server_bound_change CHECK (on_change IN ('CLEAR', 'KEEP')),
    CONSTRAINT pk_server_bound PRIMARY KEY (schema_name, table_name, column_name)
);
COMMENT ON TABLE omd.server_bound IS
'The columns that mean something on one server only: transactions, OIDs, processes. Each room '
'enters its own when it is installed.';
COMMENT ON COLUMN omd.server_bound.schema_name IS 'The room.';
COMMENT ON COLUMN omd.server_bound.table_name IS 'Its table.';
COMMENT ON COLUMN omd.server_bound.column_name IS 'The column.';
COMMENT ON COLUMN omd.server_bound.on_change IS
'CLEAR: the column becomes NULL when the server has changed. KEEP: what reads it knows better.';
COMMENT ON COLUMN omd.server_bound.row_condition IS
'SQL: only these rows are cleared; NULL: all that have a value.';

CREATE TABLE omd.sequence_bound (
    sequence_schema text NOT NULL,
    sequence_name text NOT NULL,
    table_schema text NOT NULL,
    table_name text NOT NULL,
    column_name text NOT NULL,
    row_condition text,
    CONSTRAINT pk_sequence_bound PRIMARY KEY (
        sequence_schema, sequence_name, table_schema, table_name, column_name
    )
);
COMMENT ON TABLE omd.sequence_bound IS
'Where the values of the sequences stand that no column owns. Each room enters its own when it is '
'installed.';
COMMENT ON COLUMN omd.sequence_bound.sequence_schema IS 'The schema of the sequence.';
COMMENT ON COLUMN omd.sequence_bound.sequence_name IS 'The sequence.';
COMMENT ON COLUMN omd.sequence_bound.table_schema IS 'The schema of the table.';
COMMENT ON COLUMN omd.sequence_bound.table_name IS
'A LIKE pattern of tables; without characters: its values are stored nowhere.';
COMMENT ON COLUMN omd.sequence_bound.column_name IS 'The column that holds its values.';
COMMENT ON COLUMN omd.sequence_bound.row_condition IS
'SQL: the highest value stands among these rows; NULL: among all.';

CREATE TABLE omd.upgrade_step (
    version text NOT NULL,
    step_code text NOT NULL,
    phase text NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    rows_done bigint NOT NULL DEFAULT 0,
    last_key text,
    error text,
    CONSTRAINT ck_upgrade_step_phase CHECK (
        phase IN ('expand', 'backfill', 'concurrent', 'install', 'contract')
    ),
    CONSTRAINT pk_upgrade_step PRIMARY KEY (step_code)
);
COMMENT ON TABLE omd.upgrade_step IS
'The steps of upgrades that have transactions of their own, and the last installation that was an '
'upgrade. A killed upgrade goes on where it was.';
COMMENT ON COLUMN omd.upgrade_step.version IS 'The version of OMD that began the step.';
COMMENT ON COLUMN omd.upgrade_step.step_code IS 'The name of the migration, or install.';
COMMENT ON COLUMN omd.upgrade_step.phase IS
'expand: it waits a moment only for each lock. backfill: one statement, repeated in transactions '
'of its own. concurrent: one statement outside a transaction. install: routines, views, reference '
'rows and grants in one transaction. contract: it comes after the installation.';
COMMENT ON COLUMN omd.upgrade_step.started_at IS 'When it was begun first.';
COMMENT ON COLUMN omd.upgrade_step.ended_at IS 'When it was done; NULL while it is not.';
COMMENT ON COLUMN omd.upgrade_step.rows_done IS 'How many rows a backfill has filled so far.';
COMMENT ON COLUMN omd.upgrade_step.last_key IS
'The highest key that a backfill has looked at; it goes on after it.';
COMMENT ON COLUMN omd.upgrade_step.error IS
'Why it has not ended: its error, or the processes for which it waits.';

ALTER TABLE omd.module ADD CONSTRAINT fk_module_table_format FOREIGN KEY (
    table_format_code
) REFERENCES omd.table_format (table_format_code);

ALTER TABLE omd.module ADD CONSTRAINT fk_module_kind FOREIGN KEY (
    module_kind_code
) REFERENCES omd.module_kind (module_kind_code);

ALTER TABLE omd.rollback_template ADD CONSTRAINT fk_rollback_template_table_format FOREIGN KEY (
    table_format_code
) REFERENCES omd.table_format (table_format_code);
