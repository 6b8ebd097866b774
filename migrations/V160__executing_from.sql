-- phase: expand
-- V160: where a look for executing runs begins. Applied once.

ALTER TABLE omd.module ADD COLUMN executing_from bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN omd.module.executing_from IS
'No instance of the Module with a lower id executes. Internal: a begin moves it now and then.';
ALTER TABLE omd.batch ADD COLUMN executing_from bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN omd.batch.executing_from IS
'No instance of the Batch with a lower id executes. Internal: a begin moves it now and then.';
