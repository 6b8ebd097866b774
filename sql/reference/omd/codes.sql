-- Reference rows. Rows that users add stay, and so does what an administrator has tuned (an
-- interval, a layer); the descriptions of ours are kept up to date.

INSERT INTO omd.execution_status (execution_status_code, execution_status_description)
VALUES
('E', 'Executing: the instance is running.'),
('S', 'Succeeded: the instance has ended well.'),
('F', 'Failed: the instance has ended badly; what it wrote will be rolled back.'),
('A', 'Aborted: the instance was not let in; nothing was run.'),
('C', 'Cancelled / skipped: it was not necessary to run; nothing was run.')
ON CONFLICT (execution_status_code) DO UPDATE
    SET execution_status_description = excluded.execution_status_description;

INSERT INTO omd.processing_indicator (processing_indicator, processing_indicator_description)
VALUES
('P', 'Proceed: the instance may run.'),
('A', 'Abort: the instance may not run.'),
('C', 'Cancel / skip: the instance need not run.'),
('R', 'Rollback: earlier instances must be undone before the instance may run.')
ON CONFLICT (processing_indicator) DO UPDATE
    SET processing_indicator_description = excluded.processing_indicator_description;

INSERT INTO omd.next_run_indicator (next_run_indicator, next_run_indicator_description)
VALUES
('P', 'Proceed: the next run goes on as usual.'),
('R', 'Rollback: the next run undoes this instance first.'),
('C', 'Cancel / skip: the next run is skipped once.')
ON CONFLICT (next_run_indicator) DO UPDATE
    SET next_run_indicator_description = excluded.next_run_indicator_description;

INSERT INTO omd.reason (reason_code, reason_description)
VALUES
('RUNNING', 'Another instance of the same Batch or Module executes.'),
(
    'BATCH_NOT_PROCEEDING',
    'The calling Batch Instance does not execute, or was not told to proceed.'
),
('NOT_REGISTERED', 'The Module or Batch is not registered in the calling Batch.'),
('INACTIVE', 'The Batch or Module is inactive, or the Batch is inactive under its parent.'),
('INACTIVE_IN_BATCH', 'The Module is inactive in the calling Batch.'),
('DIRECTIVE', 'An administrator asked for one skip.'),
('FREQUENCY', 'The Batch has succeeded within the interval of its frequency.'),
(
    'ALREADY_SUCCEEDED',
    'The Module or child Batch has succeeded in an earlier run of the failed Batch.'
)
ON CONFLICT (reason_code) DO UPDATE SET reason_description = excluded.reason_description;

INSERT INTO omd.layer (layer_code, layer_description)
VALUES
('Staging', 'Data as it was delivered.'),
('Integration', 'Data brought together, with history.'),
('Presentation', 'Data as consumers want it.')
ON CONFLICT (layer_code) DO UPDATE SET layer_description = excluded.layer_description;

INSERT INTO omd.area (area_code, layer_code, area_description)
VALUES
('STG', 'Staging', 'Staging: holds one delivery, emptied before each load.'),
('HSTG', 'Staging', 'History staging: all deliveries, insert only.'),
('INT', 'Integration', 'Integration: hubs, links, satellites.'),
('PRES', 'Presentation', 'Presentation: dimensions, facts, marts.'),
('HELPER', 'Integration', 'Helper tables of other areas.')
ON CONFLICT (area_code) DO UPDATE SET area_description = excluded.area_description;

INSERT INTO omd.frequency (frequency_code, frequency_interval, frequency_description)
VALUES
('Adhoc', NULL, 'Whenever somebody starts it.'),
('Continuous', NULL, 'Again and again.'),
('Hourly', interval '1 hour', 'At most once an hour.'),
('Daily', interval '1 day', 'At most once a day.'),
('Weekly', interval '7 days', 'At most once a week.'),
('Fortnightly', interval '14 days', 'At most once in two weeks.'),
('Monthly', interval '1 month', 'At most once a month.')
ON CONFLICT (frequency_code) DO UPDATE
    SET frequency_description = excluded.frequency_description;

INSERT INTO omd.table_type (table_type_code, table_type_description)
VALUES
('STG', 'Staging table.'),
('HSTG', 'History staging table.'),
('HUB', 'Hub: business keys.'),
('LINK', 'Link: relationships between hubs.'),
('SAT', 'Satellite: history of a hub''s attributes.'),
('LSAT', 'Link satellite: history of a link''s attributes.'),
('3NF', 'Table in third normal form.'),
('DIM', 'Dimension.'),
('FACT', 'Fact table.'),
('HELPER', 'Helper table.')
ON CONFLICT (table_type_code) DO UPDATE
    SET table_type_description = excluded.table_type_description;

INSERT INTO omd.platform (platform_code, platform_description)
VALUES
('POSTGRES', 'This database: the evaluation executes a rollback itself.'),
('SPARK', 'Tables that Spark writes: the caller executes a rollback and confirms it.')
ON CONFLICT (platform_code) DO UPDATE SET platform_description = excluded.platform_description;

INSERT INTO omd.table_format (table_format_code, table_format_description)
VALUES
(
    'PARQUET',
    'Plain Parquet on Spark, partitioned by the insert instance column; a rollback drops '
    'partitions.'
)
ON CONFLICT (table_format_code) DO UPDATE
    SET table_format_description = excluded.table_format_description;

INSERT INTO omd.event_type (event_type_code, event_type_description)
VALUES
(1, 'Infrastructure error.'),
(2, 'Process error, or a system event of a run.'),
(3, 'Event of a run''s own (error bitmaps).'),
(4, 'Edit by an administrator.'),
(5, 'Rollback.'),
(6, 'Information.')
ON CONFLICT (event_type_code) DO UPDATE
    SET event_type_description = excluded.event_type_description;

-- "No Batch" and "no Module": the rows that 0 refers to.
INSERT INTO omd.batch_instance (
    batch_instance_id, batch_id, start_datetime, end_datetime,
    execution_status_code, processing_indicator, next_run_indicator
)
OVERRIDING SYSTEM VALUE
VALUES (0, NULL, '-infinity', '-infinity', 'S', 'P', 'P')
ON CONFLICT (batch_instance_id) DO NOTHING;

INSERT INTO omd.module_instance (
    module_instance_id, module_id, start_datetime, end_datetime,
    execution_status_code, processing_indicator, next_run_indicator
)
OVERRIDING SYSTEM VALUE
VALUES (0, NULL, '-infinity', '-infinity', 'S', 'P', 'P')
ON CONFLICT (module_instance_id) DO NOTHING;
