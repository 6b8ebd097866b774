-- Inactive Modules are left out, since they don't run.

CREATE OR REPLACE VIEW omd_report.readiness AS
SELECT
    m.module_code,
    p.severity,
    p.problem_code,
    p.problem,
    p.command
FROM omd.module AS m
CROSS JOIN LATERAL omd._module_problems(m.module_id) AS p
WHERE m.inactive_indicator = 'N'
UNION ALL
SELECT
    u.module_code,
    'WARNING' AS severity,
    'INPUTS_UNKNOWN' AS problem_code,
    concat(
        'nobody knows what it reads',
        coalesce(': ' || u.problem, ', so a recall can''t tell whether it has read what goes')
    ) AS problem,
    format(
        'CALL omd.declare_inputs(%L, %s);',
        u.module_code,
        coalesce(
            (
                SELECT 'ARRAY[' || string_agg(quote_literal(t.table_code), ', ') || ']'
                FROM unnest(u.proposed) AS t (table_code)
            ),
            'ARRAY[''…'']'
        )
    ) AS command
FROM omd.unknown_inputs AS u;

COMMENT ON VIEW omd_report.readiness IS
'What would otherwise show only after the first failure of an active Module, with one row per '
'problem. A Module without a row is ready.';
COMMENT ON COLUMN omd_report.readiness.module_code IS 'The Module.';
COMMENT ON COLUMN omd_report.readiness.severity IS
'ERROR: a failed run can''t be rolled back, so no run would begin after it. WARNING: a rollback '
'is slow, rows can''t be traced, or nobody knows what it reads.';
COMMENT ON COLUMN omd_report.readiness.problem_code IS
'TARGET_MISSING, TEMPLATE_MISSING, KEY_MISSING, HISTORY_COLUMN_MISSING, STAMP_COLUMN_MISSING, '
'TARGET_TAKES_NO_DELETE (a view without a rule or trigger for it), STAMP_COLUMN_NOT_INDEXED '
'(only for a table of 100,000 rows or more), or INPUTS_UNKNOWN (of kind SQL or JOB).';
COMMENT ON COLUMN omd_report.readiness.problem IS 'The problem in words.';
COMMENT ON COLUMN omd_report.readiness.command IS
'The command that solves it; … stands for what only you know.';
