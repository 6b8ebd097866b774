-- V002: what recovery needs beyond V001: rollbacks by table format, dry runs that count,
-- companions, the value of an open expiry date. Applied once. Source: DIRECT, section "Rollback
-- Procedures".

-- Their parameters or columns change: install.sql creates them again.
DROP PROCEDURE IF EXISTS omd.register_module(
    text, text, text, text, text, text, text, text[], text, text, text, text, text, text[], text,
    integer
);
DROP FUNCTION IF EXISTS omd.module_definition(text);

CREATE TABLE omd.table_format (
    table_format_code text NOT NULL,
    table_format_description text NOT NULL,
    CONSTRAINT pk_table_format PRIMARY KEY (table_format_code),
    CONSTRAINT ck_table_format_code CHECK (table_format_code <> '')
);
COMMENT ON TABLE omd.table_format IS
'Formats of target tables that can''t be rolled back row by row. A format has templates of its '
'own, and no others.';
COMMENT ON COLUMN omd.table_format.table_format_code IS 'Name of the format.';
COMMENT ON COLUMN omd.table_format.table_format_description IS 'How such a table is rolled back.';

ALTER TABLE omd.module
ADD COLUMN table_format_code text,
ADD COLUMN open_expiry_date text NOT NULL DEFAULT '9999-12-31',
ADD CONSTRAINT fk_module_table_format FOREIGN KEY (table_format_code)
REFERENCES omd.table_format (table_format_code);
COMMENT ON COLUMN omd.module.table_format_code IS
'Format of the target where rows can''t be deleted from it: PARQUET. NULL: they can.';
COMMENT ON COLUMN omd.module.open_expiry_date IS
'What the expiry date of a current record says, as text: 9999-12-31, infinity, …';

ALTER TABLE omd.rollback_template
ADD COLUMN table_format_code text,
ADD COLUMN count_template text,
ADD CONSTRAINT fk_rollback_template_table_format FOREIGN KEY (table_format_code)
REFERENCES omd.table_format (table_format_code),
DROP CONSTRAINT uq_rollback_template,
ADD CONSTRAINT uq_rollback_template UNIQUE NULLS NOT DISTINCT (
    area_code, table_type_code, platform_code, table_format_code, module_id, step
),
DROP CONSTRAINT ck_rollback_template_owner,
ADD CONSTRAINT ck_rollback_template_owner CHECK (
    (
        module_id IS NOT NULL
        AND area_code IS NULL
        AND table_type_code IS NULL
        AND platform_code IS NULL
        AND table_format_code IS NULL
    )
    OR (module_id IS NULL AND area_code IS NOT NULL AND platform_code IS NOT NULL)
);
COMMENT ON COLUMN omd.rollback_template.table_format_code IS
'Format of the target; NULL: targets without one.';
COMMENT ON COLUMN omd.rollback_template.statement_template IS
'One statement. Filled in, quoted: {table}; {insert_instance_column}, {update_instance_column}, '
'{effective_date_column}, {expiry_date_column}, {current_indicator_column}; {key_columns} (k1, '
'k2) and {key_join} (t.k1 = c.k1 AND …) of the business key; {instance_array}, {instance_list}, '
'{partition_list}: the instances to undo; {open_expiry_date}, {current_yes}, {current_no}: '
'literals; {and_reset_update} (, column = NULL). Without that column in the target, '
'{update_instance_column} is NULL::bigint and {and_reset_update} is empty.';
COMMENT ON COLUMN omd.rollback_template.count_template IS
'A SELECT of the number of rows that the statement would touch, with the same placeholders, for '
'a dry run. NULL: it is not counted.';

ALTER TABLE omd.module_instance ADD COLUMN companion_instance_array bigint[];
COMMENT ON COLUMN omd.module_instance.companion_instance_array IS
'Instances of companion Modules that this run undoes together with rollback_instance_array; NULL '
'when there are none.';

-- All windows of a Module, also those taken back: the newest that counts, the oldest there is.
DROP INDEX omd.ix_source_control_counting;
CREATE INDEX ix_source_control_module ON omd.source_control (module_id, module_instance_id);

-- On each update of an instance, twice per run, the key was looked at and found unchanged.
ALTER TABLE omd.source_control DROP CONSTRAINT fk_source_control_instance;
COMMENT ON TABLE omd.source_control IS
'The load window of a Module Instance: (start, end], each a pair of timestamp and id, either '
'part optional. No foreign key: only omd routines write here.';
