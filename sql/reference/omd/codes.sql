-- Reference rows. An installation keeps the rows that users added and what an administrator has
-- tuned (an interval, a layer); it renews the descriptions of OMD's own rows.

INSERT INTO omd.execution_status (execution_status_code, execution_status_description)
VALUES
('E', 'Executing: the instance runs.'),
('S', 'Succeeded: the instance has ended without an error.'),
('F', 'Failed: the instance has failed; the rows that it wrote will be rolled back.'),
('A', 'Aborted: the instance was not allowed to run; nothing ran.'),
('C', 'Cancelled / skipped: the run was not necessary; nothing ran.')
ON CONFLICT (execution_status_code) DO UPDATE
    SET execution_status_description = excluded.execution_status_description;

INSERT INTO omd.processing_indicator (processing_indicator, processing_indicator_description)
VALUES
('P', 'Proceed: the instance may run.'),
('A', 'Abort: the instance may not run.'),
('C', 'Cancel / skip: the instance need not run.'),
('R', 'Rollback: earlier instances must be rolled back before the instance may run.')
ON CONFLICT (processing_indicator) DO UPDATE
    SET processing_indicator_description = excluded.processing_indicator_description;

INSERT INTO omd.next_run_indicator (next_run_indicator, next_run_indicator_description)
VALUES
('P', 'Proceed: the next run is decided as usual.'),
('R', 'Rollback: the next run rolls this instance back first.'),
('C', 'Cancel / skip: the next run is skipped once.')
ON CONFLICT (next_run_indicator) DO UPDATE
    SET next_run_indicator_description = excluded.next_run_indicator_description;

INSERT INTO omd.reason (reason_code, reason_description)
VALUES
('RUNNING', 'Another instance of the same Batch or Module executes.'),
(
    'BATCH_NOT_PROCEEDING',
    'The calling Batch Instance does not execute, or may not proceed.'
),
('NOT_REGISTERED', 'The Module or Batch is not registered in the calling Batch.'),
('INACTIVE', 'The Batch or Module is inactive, or the Batch is inactive under its parent.'),
('INACTIVE_IN_BATCH', 'The Module is inactive in the calling Batch.'),
('DIRECTIVE', 'An administrator asked for one run to be skipped.'),
('FREQUENCY', 'The Batch has succeeded within the interval of its frequency.'),
(
    'ALREADY_SUCCEEDED',
    'The Module or child Batch has succeeded in an earlier run of the failed Batch.'
),
('UNKNOWN_INDICATOR', 'The client does not know what the database has answered, and ended the run.')
ON CONFLICT (reason_code) DO UPDATE SET reason_description = excluded.reason_description;

INSERT INTO omd.layer (layer_code, layer_description)
VALUES
('Staging', 'The data as they were delivered.'),
('Integration', 'The data of all sources, integrated and with history.'),
('Presentation', 'The data as consumers need them.')
ON CONFLICT (layer_code) DO UPDATE SET layer_description = excluded.layer_description;

INSERT INTO omd.area (area_code, layer_code, area_description)
VALUES
('STG', 'Staging', 'Staging: a table holds one delivery and is emptied before each load.'),
('HSTG', 'Staging', 'History staging: a table holds all deliveries and is only inserted into.'),
('INT', 'Integration', 'Integration: hubs, links and satellites.'),
('PRES', 'Presentation', 'Presentation: dimensions, facts and marts.'),
('HELPER', 'Integration', 'Helper tables of other areas.')
ON CONFLICT (area_code) DO UPDATE SET area_description = excluded.area_description;

INSERT INTO omd.frequency (frequency_code, frequency_interval, frequency_description)
VALUES
('Adhoc', NULL, 'The Batch runs whenever somebody starts it.'),
('Continuous', NULL, 'The Batch runs again as soon as it has ended.'),
('Hourly', interval '1 hour', 'The Batch succeeds at most once an hour.'),
('Daily', interval '1 day', 'The Batch succeeds at most once a day.'),
('Weekly', interval '7 days', 'The Batch succeeds at most once a week.'),
('Fortnightly', interval '14 days', 'The Batch succeeds at most once in two weeks.'),
('Monthly', interval '1 month', 'The Batch succeeds at most once a month.')
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
('POSTGRES', 'Tables of this database: a begin executes the rollback itself.'),
('SPARK', 'Tables that Spark writes: the caller executes the rollback and confirms it.')
ON CONFLICT (platform_code) DO UPDATE SET platform_description = excluded.platform_description;

INSERT INTO omd.table_format (table_format_code, table_format_description)
VALUES
(
    'PARQUET',
    'Plain Parquet on Spark, partitioned by the insert instance column: a rollback drops '
    'partitions.'
),
('ICEBERG', 'An Iceberg table that OMD commits: a rollback drops files, or rewrites them.'),
('DELTA', 'A Delta table that OMD commits: a rollback drops files, or rewrites them.')
ON CONFLICT (table_format_code) DO UPDATE
    SET table_format_description = excluded.table_format_description;

INSERT INTO omd.event_type (event_type_code, event_type_description)
VALUES
(1, 'Infrastructure error.'),
(2, 'Process error, or a system event of a run.'),
(3, 'Event that a run logs itself, such as an error bitmap.'),
(4, 'Change by an administrator.'),
(5, 'Rollback.'),
(6, 'Information.')
ON CONFLICT (event_type_code) DO UPDATE
    SET event_type_description = excluded.event_type_description;

-- Row 0 stands for "no Batch" and for "no Module", so that references to it need no NULL.
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
