-- The event log tells who set a directive and when, since each edit of a Next Run Indicator leaves
-- an event there. A Module Instance that got its mark from its Batch Instance has no event of its
-- own: the event of the Batch Instance counts.

CREATE OR REPLACE VIEW omd_report.directives AS
WITH open_directive AS NOT MATERIALIZED (
    SELECT
        'BATCH'::text AS instance_type,
        bi.batch_instance_id AS instance_id,
        b.batch_code AS code,
        bi.next_run_indicator,
        bi.execution_status_code,
        bi.end_datetime,
        NULL::integer AS next_run_batch_id,
        bi.batch_instance_id,
        0::bigint AS module_instance_id
    FROM omd.batch_instance AS bi
    INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id
    WHERE bi.next_run_indicator IN ('C', 'R')
    UNION ALL
    SELECT
        'MODULE' AS instance_type,
        mi.module_instance_id AS instance_id,
        m.module_code AS code,
        mi.next_run_indicator,
        mi.execution_status_code,
        mi.end_datetime,
        mi.next_run_batch_id,
        mi.batch_instance_id,
        mi.module_instance_id
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m ON mi.module_id = m.module_id
    WHERE mi.next_run_indicator = 'C'
    UNION ALL
    SELECT
        'MODULE' AS instance_type,
        mi.module_instance_id AS instance_id,
        m.module_code AS code,
        mi.next_run_indicator,
        mi.execution_status_code,
        mi.end_datetime,
        mi.next_run_batch_id,
        mi.batch_instance_id,
        mi.module_instance_id
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m ON mi.module_id = m.module_id
    WHERE
        omd._awaits_rollback(
            mi.execution_status_code, mi.next_run_indicator, mi.rolled_back_by_module_instance_id
        )
        AND mi.next_run_indicator = 'R'
)

SELECT
    d.instance_type,
    d.instance_id,
    d.code,
    d.next_run_indicator,
    d.execution_status_code,
    d.end_datetime,
    CASE
        WHEN d.next_run_batch_id IS NOT NULL THEN 'PARTIAL RESTART'
        WHEN edit.event_datetime IS NULL AND d.execution_status_code = 'F' THEN 'FAILURE'
        ELSE 'ADMINISTRATOR'
    END AS set_by,
    edit.set_by_user,
    edit.event_datetime AS set_datetime,
    (
        SELECT b.batch_code FROM omd.batch AS b
        WHERE b.batch_id = d.next_run_batch_id
    ) AS restart_batch_code
FROM open_directive AS d
LEFT JOIN LATERAL (
    SELECT
        event.event_datetime,
        substring(event.event_detail FROM ' to . by (.*)$') AS set_by_user
    FROM (
        SELECT
            e.event_id,
            e.event_datetime,
            e.event_detail
        FROM omd.event_log AS e
        WHERE
            e.module_instance_id = d.module_instance_id
            AND e.module_instance_id <> 0
            AND e.event_type_code = 4
            AND e.event_return_code_details LIKE '_ -> ' || d.next_run_indicator
        UNION ALL
        SELECT
            e.event_id,
            e.event_datetime,
            e.event_detail
        FROM omd.event_log AS e
        WHERE
            e.batch_instance_id = d.batch_instance_id
            AND e.batch_instance_id <> 0
            AND e.module_instance_id = 0
            AND e.event_type_code = 4
            AND e.event_return_code_details LIKE '_ -> ' || d.next_run_indicator
            AND (d.instance_type = 'BATCH' OR d.next_run_indicator = 'R')
    ) AS event
    WHERE d.next_run_batch_id IS NULL
    ORDER BY event.event_id DESC
    LIMIT 1
) AS edit ON TRUE;

COMMENT ON VIEW omd_report.directives IS
'Ended instances whose Next Run Indicator still asks something of the next run. C: the next run '
'is skipped. R: the next run rolls this instance back.';
COMMENT ON COLUMN omd_report.directives.instance_type IS 'BATCH or MODULE.';
COMMENT ON COLUMN omd_report.directives.instance_id IS 'The instance.';
COMMENT ON COLUMN omd_report.directives.code IS 'The code of the Batch or Module.';
COMMENT ON COLUMN omd_report.directives.next_run_indicator IS 'The directive: C or R.';
COMMENT ON COLUMN omd_report.directives.execution_status_code IS 'The status of the instance.';
COMMENT ON COLUMN omd_report.directives.end_datetime IS 'When the instance ended.';
COMMENT ON COLUMN omd_report.directives.set_by IS
'ADMINISTRATOR: somebody set it. PARTIAL RESTART: the Module succeeded in the failed runs of '
'restart_batch_code. FAILURE: the run failed, so its rows have to be rolled back.';
COMMENT ON COLUMN omd_report.directives.set_by_user IS
'The administrator; NULL when none set it, or when the event was purged.';
COMMENT ON COLUMN omd_report.directives.set_datetime IS
'When the administrator set it; NULL when none did, or when the event was purged.';
COMMENT ON COLUMN omd_report.directives.restart_batch_code IS
'The Batch of the partial restart: the skip is valid only in its reruns; NULL when there is none.';
