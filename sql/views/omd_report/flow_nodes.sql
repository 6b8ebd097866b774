-- What stands in the flow, and how it is: the state of the Module that performs it, and what is
-- wrong.

CREATE OR REPLACE VIEW omd_report.flow_nodes AS
WITH nodes AS (
    SELECT DISTINCT
        v.kind,
        v.code
    FROM omd_report.flow AS f
    CROSS JOIN
        LATERAL (VALUES (f.from_kind, f.from_code), (f.to_kind, f.to_code)) AS v (kind, code)
),

modules AS (
    SELECT
        'TOPIC' AS kind,
        t.topic AS code,
        m.module_code
    FROM omd_lineage.topic AS t
    INNER JOIN omd.module AS m ON t.module_id = m.module_id
    UNION ALL
    SELECT
        'STAGE' AS kind,
        s.stage_code AS code,
        m.module_code
    FROM omd_decision.stage AS s
    INNER JOIN omd.module AS m ON s.module_id = m.module_id
    UNION ALL
    SELECT
        v.kind,
        v.code,
        m.module_code
    FROM omd.module AS m
    CROSS JOIN
        LATERAL (
            VALUES
            (
                'MODULE',
                m.module_code,
                m.module_kind_code IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
            ),
            ('INTERFACE', substr(m.module_code, 7), m.module_code LIKE 'facts.%'),
            ('AGREEMENT', substr(m.module_code, 10), m.module_code LIKE 'delivery.%'),
            ('EXPORT', substr(m.module_code, 8), m.module_code LIKE 'export.%')
        ) AS v (kind, code, is_it)
    WHERE m.module_kind_code NOT IN ('TOPIC', 'STAGE', 'PART') AND v.is_it
),

problems AS (
    SELECT
        k.kind,
        p.object_key AS code,
        string_agg(p.text, ' ' ORDER BY p.text) AS text
    FROM omd_report.problems AS p
    INNER JOIN (
        VALUES
        ('LOCATION', 'AGREEMENT'),
        ('SOURCE', 'TABLE'),
        ('SOURCE', 'LAKE_TABLE'),
        ('SOURCE', 'VIEW'),
        ('STAGE', 'STAGE')
    ) AS k (object_kind, kind) ON p.object_kind = k.object_kind
    GROUP BY k.kind, p.object_key
)

SELECT
    n.kind,
    n.code,
    m.module_code,
    w.state,
    w.reason,
    coalesce(w.last_problem, p.text) AS last_problem,
    w.failures
FROM nodes AS n
LEFT JOIN modules AS m ON n.kind = m.kind AND n.code = m.code
LEFT JOIN omd_report.work AS w ON m.module_code = w.code
LEFT JOIN problems AS p ON n.kind = p.kind AND n.code = p.code;

COMMENT ON VIEW omd_report.flow_nodes IS
'What stands in omd_report.flow, with its state and its last problem.';
COMMENT ON COLUMN omd_report.flow_nodes.kind IS 'As in omd_report.flow.';
COMMENT ON COLUMN omd_report.flow_nodes.code IS 'Its code, or the name of the table or view.';
COMMENT ON COLUMN omd_report.flow_nodes.module_code IS
'The Module that performs it; NULL of tables and views.';
COMMENT ON COLUMN omd_report.flow_nodes.state IS
'Its state, as in omd_report.work; NULL of tables and views.';
COMMENT ON COLUMN omd_report.flow_nodes.reason IS
'Why, as in omd_report.work; NULL: it is idle, or it is a table or view.';
COMMENT ON COLUMN omd_report.flow_nodes.last_problem IS
'What is wrong with it, without values of rows; NULL: nothing is known.';
COMMENT ON COLUMN omd_report.flow_nodes.failures IS
'How often it has failed since its last success; NULL of tables and views.';
