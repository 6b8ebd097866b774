-- The newest instances are looked at, whatever the history; an older context is of no use to
-- anybody.

CREATE OR REPLACE VIEW omd_report.openlineage_problems AS
SELECT
    'NAMESPACE' AS problem_code,
    s.sink_code AS code,
    format(
        'tables are named postgres://localhost:%s, which is another server for each reader',
        current_setting('port')
    ) AS problem,
    'CALL omd_event.configure(p_dataset_namespace => ''postgres://…:5432'');' AS command
FROM omd_event.sink AS s
CROSS JOIN omd_event.setting AS c
WHERE s.sink_kind = 'OPENLINEAGE' AND s.inactive_indicator = 'N' AND c.dataset_namespace IS NULL
UNION ALL
SELECT
    'CONTEXT' AS problem_code,
    i.code,
    format(
        '%s of %s instances is not %s, so it is not sent; the newest is instance %s',
        p.key, count(*), p.expected, max(i.instance_id)
    ) AS problem,
    'Look at what sets the variable ' || upper(p.key) || ', or passes the context.' AS command
FROM (
    (
        SELECT
            m.module_code AS code,
            mi.module_instance_id AS instance_id,
            mi.execution_context
        FROM omd.module_instance AS mi
        INNER JOIN omd.module AS m ON mi.module_id = m.module_id
        ORDER BY mi.module_instance_id DESC
        LIMIT 1000
    )
    UNION ALL
    (
        SELECT
            'batch:' || b.batch_code AS code,
            bi.batch_instance_id AS instance_id,
            bi.execution_context
        FROM omd.batch_instance AS bi
        INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id
        ORDER BY bi.batch_instance_id DESC
        LIMIT 1000
    )
) AS i
CROSS JOIN LATERAL omd_event._context_problems(i.execution_context) AS p
GROUP BY i.code, p.key, p.expected;

COMMENT ON VIEW omd_report.openlineage_problems IS
'What keeps others from understanding the events of OpenLineage.';
COMMENT ON COLUMN omd_report.openlineage_problems.problem_code IS
'NAMESPACE: tables have a name that means another server elsewhere. CONTEXT: an execution context '
'has a known key with something else than it should, among the newest thousand.';
COMMENT ON COLUMN omd_report.openlineage_problems.code IS
'The sink; or the Module, or batch: and the Batch.';
COMMENT ON COLUMN omd_report.openlineage_problems.problem IS 'The problem in words.';
COMMENT ON COLUMN omd_report.openlineage_problems.command IS 'What solves it.';
