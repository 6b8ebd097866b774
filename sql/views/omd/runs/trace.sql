-- Each row of a target carries the Module Instance that wrote it. This view tells all that is known
-- of that run in one row. Each part is one look into an index, so a query must name the instance.

CREATE OR REPLACE VIEW omd_report.trace AS
SELECT
    mi.module_instance_id,
    m.module_code,
    m.module_description,
    m.area_code,
    m.table_code,
    m.table_type_code,
    m.platform_code,
    mi.batch_instance_id,
    b.batch_code,
    (
        WITH RECURSIVE up AS (
            SELECT
                1 AS level,
                p.batch_instance_id,
                p.batch_id,
                p.parent_batch_instance_id,
                p.execution_status_code,
                p.start_datetime,
                p.end_datetime
            FROM omd.batch_instance AS p
            WHERE p.batch_instance_id = mi.batch_instance_id
            UNION ALL
            SELECT
                u.level + 1 AS level,
                p.batch_instance_id,
                p.batch_id,
                p.parent_batch_instance_id,
                p.execution_status_code,
                p.start_datetime,
                p.end_datetime
            FROM up AS u
            INNER JOIN omd.batch_instance AS p ON u.parent_batch_instance_id = p.batch_instance_id
            -- Row 0 is its own parent.
            WHERE p.batch_instance_id <> 0
        )

        SELECT
            coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'batch_instance_id', u.batch_instance_id,
                        'batch_code', pb.batch_code,
                        'execution_status_code', u.execution_status_code,
                        'start_datetime', u.start_datetime,
                        'end_datetime', u.end_datetime
                    ) ORDER BY u.level
                ),
                '[]'
            )
        FROM up AS u
        INNER JOIN omd.batch AS pb ON u.batch_id = pb.batch_id
    ) AS parents,
    mi.execution_status_code,
    mi.processing_indicator,
    mi.next_run_indicator,
    mi.reason_code,
    mi.start_datetime,
    mi.end_datetime,
    coalesce(mi.end_datetime, statement_timestamp()) - mi.start_datetime AS duration,
    mi.lease_expires_at,
    nullif(sc.start_value, '-infinity') AS window_start_value,
    sc.start_id AS window_start_id,
    sc.end_value AS window_end_value,
    sc.end_id AS window_end_id,
    sc.is_taken_back AS window_is_taken_back,
    mi.rows_input,
    mi.rows_inserted,
    mi.rows_updated,
    mi.rows_deleted,
    mi.rows_discarded,
    mi.rows_rejected,
    mi.execution_context,
    ARRAY(
        SELECT u.module_instance_id
        FROM omd.module_instance AS u
        WHERE
            u.module_instance_id = any(mi.rollback_instance_array)
            AND u.rolled_back_by_module_instance_id = mi.module_instance_id
        ORDER BY u.module_instance_id
    ) AS undid_module_instance_ids,
    mi.rolled_back_by_module_instance_id,
    (
        SELECT
            coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'event_id', e.event_id,
                        'event_datetime', e.event_datetime,
                        'event_type_code', e.event_type_code,
                        'event_type_description', t.event_type_description,
                        'event_return_code_details', e.event_return_code_details,
                        'event_detail', CASE
                            WHEN e.event_type_code IN (1, 2, 6)
                                THEN omd.failure_text(
                                    e.event_return_code_details, e.event_detail, m.module_id
                                )
                            ELSE e.event_detail
                        END,
                        'error_bitmap', e.error_bitmap
                    ) ORDER BY e.event_id
                ),
                '[]'
            )
        FROM omd.event_log AS e
        INNER JOIN omd.event_type AS t ON e.event_type_code = t.event_type_code
        WHERE e.module_instance_id = mi.module_instance_id AND e.module_instance_id <> 0
    ) AS events,
    mi.started_by
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
LEFT JOIN omd.batch_instance AS bi ON mi.batch_instance_id = bi.batch_instance_id
LEFT JOIN omd.batch AS b ON bi.batch_id = b.batch_id
LEFT JOIN omd.source_control AS sc ON mi.module_instance_id = sc.module_instance_id;

COMMENT ON VIEW omd_report.trace IS
'All that is known of a Module Instance, in one row. Query it with WHERE module_instance_id = ….';
COMMENT ON COLUMN omd_report.trace.module_instance_id IS 'The instance.';
COMMENT ON COLUMN omd_report.trace.module_code IS 'The Module.';
COMMENT ON COLUMN omd_report.trace.module_description IS
'What the Module loads; NULL when no description was given.';
COMMENT ON COLUMN omd_report.trace.area_code IS 'The area of its target.';
COMMENT ON COLUMN omd_report.trace.table_code IS 'Its target.';
COMMENT ON COLUMN omd_report.trace.table_type_code IS
'The type of its target; NULL when none was given.';
COMMENT ON COLUMN omd_report.trace.platform_code IS 'The platform of its target.';
COMMENT ON COLUMN omd_report.trace.batch_instance_id IS
'The Batch Instance that called it; 0 when none did.';
COMMENT ON COLUMN omd_report.trace.batch_code IS 'The Batch that called it; NULL when none did.';
COMMENT ON COLUMN omd_report.trace.parents IS
'The Batch Instances above it, the nearest first: a JSON array of objects with batch_instance_id, '
'batch_code, execution_status_code, start_datetime and end_datetime.';
COMMENT ON COLUMN omd_report.trace.execution_status_code IS 'The status: E, S, F, A or C.';
COMMENT ON COLUMN omd_report.trace.processing_indicator IS
'The Processing Indicator: P, A, C or R.';
COMMENT ON COLUMN omd_report.trace.next_run_indicator IS 'The Next Run Indicator: P, R or C.';
COMMENT ON COLUMN omd_report.trace.reason_code IS
'Why it was aborted or skipped; NULL when it was neither.';
COMMENT ON COLUMN omd_report.trace.start_datetime IS 'When it started.';
COMMENT ON COLUMN omd_report.trace.end_datetime IS 'When it ended; NULL while it executes.';
COMMENT ON COLUMN omd_report.trace.duration IS 'How long it ran, or how long it has been running.';
COMMENT ON COLUMN omd_report.trace.lease_expires_at IS
'When its lease expires; NULL when it has none.';
COMMENT ON COLUMN omd_report.trace.window_start_value IS
'The start of its load window, exclusive: the timestamp; NULL when the start is open or has no '
'timestamp.';
COMMENT ON COLUMN omd_report.trace.window_start_id IS
'The start of its load window, exclusive: the id; NULL when it has none.';
COMMENT ON COLUMN omd_report.trace.window_end_value IS
'The end of its load window, inclusive: the timestamp; NULL when it has none.';
COMMENT ON COLUMN omd_report.trace.window_end_id IS
'The end of its load window, inclusive: the id; NULL when it has none.';
COMMENT ON COLUMN omd_report.trace.window_is_taken_back IS
'The load window was withdrawn, since the instance was rolled back; NULL when it has no window.';
COMMENT ON COLUMN omd_report.trace.rows_input IS 'Rows read.';
COMMENT ON COLUMN omd_report.trace.rows_inserted IS 'Rows inserted.';
COMMENT ON COLUMN omd_report.trace.rows_updated IS 'Rows updated.';
COMMENT ON COLUMN omd_report.trace.rows_deleted IS 'Rows deleted.';
COMMENT ON COLUMN omd_report.trace.rows_discarded IS 'Rows left out on purpose.';
COMMENT ON COLUMN omd_report.trace.rows_rejected IS 'Rows refused as bad.';
COMMENT ON COLUMN omd_report.trace.execution_context IS
'Where and by what it ran; NULL when no context was given.';
COMMENT ON COLUMN omd_report.trace.undid_module_instance_ids IS 'The instances that it undid.';
COMMENT ON COLUMN omd_report.trace.rolled_back_by_module_instance_id IS
'The later instance that undid it; NULL when none did.';
COMMENT ON COLUMN omd_report.trace.events IS
'Its events in the order of writing: a JSON array of objects with the columns of the event log.';
COMMENT ON COLUMN omd_report.trace.started_by IS
'The role that began it; NULL for runs from before this was recorded.';
