-- The rules of when work waits stand here. Few Modules have a row.

CREATE OR REPLACE VIEW omd.module_pause AS
SELECT
    s.module_id,
    CASE
        WHEN s.failures > 0 AND m.max_failures > 0 AND s.failures >= m.max_failures THEN 'FAILED'
        WHEN s.looked_datetime IS NULL AND s.not_before > now() THEN 'BACK_OFF'
    END AS state,
    CASE WHEN s.not_before > now() THEN s.looked_datetime END AS looked_datetime,
    s.failures,
    s.not_before,
    s.failed_since,
    CASE
        WHEN s.failures = 0 THEN NULL
        WHEN omd.reads_rows()
            THEN
                concat_ws(
                    ': ',
                    'error ' || substring(s.last_code FROM '^[0-9A-Z]{5}$'),
                    coalesce(s.last_text, s.last_problem)
                )
        ELSE coalesce(
            omd.failure_text(s.last_code, coalesce(s.last_text, s.last_problem), s.module_id),
            s.last_problem
        )
    END AS last_problem,
    s.last_module_instance_id,
    k.module_kind_code IS NOT NULL AS is_by_hand,
    k.module_kind_code IS NOT NULL AND EXISTS (
        SELECT FROM omd.module_instance AS f
        INNER JOIN omd.module_instance AS r
            ON f.rolled_back_by_module_instance_id = r.module_instance_id
        WHERE
            f.module_instance_id = s.last_module_instance_id
            AND r.module_instance_id <> f.module_instance_id
            AND r.execution_status_code IN ('S', 'A', 'C')
    ) AS is_settled
FROM omd.module_state AS s
INNER JOIN omd.module AS m ON s.module_id = m.module_id
LEFT JOIN omd.own_kind AS k ON m.module_kind_code = k.module_kind_code;

COMMENT ON VIEW omd.module_pause IS
'For rooms: the Modules that have failed since their last success, or had nothing to do when they '
'were ready, and whether their work waits.';
COMMENT ON COLUMN omd.module_pause.module_id IS 'The Module.';
COMMENT ON COLUMN omd.module_pause.state IS
'FAILED: it has failed too often, and waits for omd.retry. BACK_OFF: it waits after a failure. '
'NULL: it does not wait for these.';
COMMENT ON COLUMN omd.module_pause.looked_datetime IS
'The look that found nothing, while its pause lasts; work that is newer does not wait. NULL: there '
'is no such pause.';
COMMENT ON COLUMN omd.module_pause.failures IS 'How often it has failed since its last success.';
COMMENT ON COLUMN omd.module_pause.not_before IS 'When its pause ends; NULL: it has none.';
COMMENT ON COLUMN omd.module_pause.failed_since IS
'When the first of these failures was; NULL: none was.';
COMMENT ON COLUMN omd.module_pause.last_problem IS
'The last failure, as omd.failure_text shows it to the caller, with its SQLSTATE.';
COMMENT ON COLUMN omd.module_pause.last_module_instance_id IS
'The Module Instance that failed last; NULL: it failed before it had one.';
COMMENT ON COLUMN omd.module_pause.is_by_hand IS
'No worker takes work of its kind by itself: a person, a schedule or a Batch begins it.';
COMMENT ON COLUMN omd.module_pause.is_settled IS
'It is by hand, and a run has undone the last failure and was then skipped or aborted: it does not '
'count as failed any more.';
