-- A Batch that a Module stands for is that Module, in omd_report.work. Failures are counted in
-- their index, from the last success on.

CREATE OR REPLACE VIEW omd_report.batch_work AS
WITH states AS (
    SELECT
        b.batch_id,
        b.batch_code,
        e.start_datetime,
        f.batch_instance_id,
        f.end_datetime,
        CASE
            WHEN e.start_datetime IS NOT NULL THEN 'RUNNING'
            WHEN f.batch_instance_id IS NOT NULL THEN 'FAILED'
            WHEN b.inactive_indicator = 'Y' THEN 'PAUSED'
            ELSE 'IDLE'
        END AS state
    FROM omd.batch AS b
    LEFT JOIN omd.failed_batch AS f ON b.batch_code = f.batch_code
    LEFT JOIN LATERAL (
        SELECT min(bi.start_datetime) AS start_datetime
        FROM omd.batch_instance AS bi
        WHERE bi.batch_id = b.batch_id AND bi.execution_status_code = 'E'
    ) AS e ON TRUE
    WHERE
        NOT EXISTS (
            SELECT FROM omd.module AS m
            INNER JOIN omd.module_kind AS k ON m.module_kind_code = k.module_kind_code
            WHERE m.module_code = b.batch_code AND k.is_batch
        )
)

SELECT
    s.batch_code AS code,
    s.state,
    CASE s.state
        WHEN 'RUNNING' THEN 'RUNNING'
        WHEN 'FAILED' THEN 'WAITS_FOR_A_PERSON'
        WHEN 'PAUSED' THEN 'INACTIVE'
    END AS reason,
    coalesce(f.failures, 0) AS failures,
    f.last_problem,
    CASE s.state
        WHEN 'RUNNING' THEN s.start_datetime
        WHEN 'FAILED' THEN f.failed_since
    END AS since
FROM states AS s
LEFT JOIN LATERAL (
    SELECT
        count(*) AS failures,
        min(bi.end_datetime) AS failed_since,
        (
            SELECT
                coalesce(
                    omd.failure_text(e.event_return_code_details, e.event_detail, NULL),
                    e.event_return_code_details,
                    'it failed'
                )
            FROM omd.event_log AS e
            WHERE
                e.batch_instance_id = s.batch_instance_id
                AND e.batch_instance_id <> 0
                AND e.module_instance_id = 0
                AND e.event_type_code = 2
                AND e.event_datetime >= s.end_datetime
            ORDER BY e.event_id
            LIMIT 1
        ) AS last_problem
    FROM omd.batch_instance AS bi
    WHERE
        bi.batch_id = s.batch_id
        AND bi.execution_status_code = 'F'
        AND bi.batch_instance_id > coalesce(
            (
                SELECT max(g.batch_instance_id) FROM omd.batch_instance AS g
                WHERE g.batch_id = s.batch_id AND g.execution_status_code = 'S'
            ),
            0
        )
) AS f ON s.batch_instance_id IS NOT NULL;

COMMENT ON VIEW omd_report.batch_work IS
'What each Batch does: one that has failed stays so until it succeeds, or until somebody has undone'
' what it left and has skipped it.';
COMMENT ON COLUMN omd_report.batch_work.code IS 'The Batch.';
COMMENT ON COLUMN omd_report.batch_work.state IS 'RUNNING, FAILED, PAUSED or IDLE.';
COMMENT ON COLUMN omd_report.batch_work.reason IS
'Why: RUNNING; WAITS_FOR_A_PERSON of FAILED; INACTIVE of PAUSED; NULL: it is idle.';
COMMENT ON COLUMN omd_report.batch_work.failures IS
'How often it has failed since its last success; 0: its last run has not failed.';
COMMENT ON COLUMN omd_report.batch_work.last_problem IS
'The last failure, as omd.failure_text shows it to the caller; NULL: its last run has not failed.';
COMMENT ON COLUMN omd_report.batch_work.since IS
'When this state began: the begin of the run, or the first of these failures; NULL when that is '
'not known.';
