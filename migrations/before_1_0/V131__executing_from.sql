-- V131: where a look for executing runs begins. Applied once.

DO $do$
BEGIN
    -- prepare/executing_columns.sql has done it where runs may be at work.
    IF EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = to_regclass('omd.module') AND a.attname = 'executing_from'
    ) THEN
        RETURN;
    END IF;
    ALTER TABLE omd.module ADD COLUMN executing_from bigint NOT NULL DEFAULT 0;
    COMMENT ON COLUMN omd.module.executing_from IS
    'No instance of the Module with a lower id executes. Internal: a begin moves it now and then.';
    ALTER TABLE omd.batch ADD COLUMN executing_from bigint NOT NULL DEFAULT 0;
    COMMENT ON COLUMN omd.batch.executing_from IS
    'No instance of the Batch with a lower id executes. Internal: a begin moves it now and then.';
    CREATE INDEX ix_module_instance_executing ON omd.module_instance (
        module_id, module_instance_id
    ) WHERE (execution_status_code = 'E');
    CREATE INDEX ix_module_instance_waiting ON omd.module_instance (
        module_id, module_instance_id
    ) WHERE (
        next_run_indicator = 'C'
        OR (
            (execution_status_code = 'F' OR next_run_indicator = 'R')
            AND rolled_back_by_module_instance_id IS NULL
        )
    );
    -- Begins of one Module, or of one Batch, wait for each other at its row.
    DROP INDEX omd.uq_module_instance_proceeding;
    DROP INDEX omd.uq_batch_instance_proceeding;
END
$do$;
