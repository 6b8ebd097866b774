-- What is declared says what flows where. Rooms know a table by its name alone; here it shows
-- whether it is an offered view of facts or a table of the lake. Of the offered views those are
-- here that somebody reads.

CREATE OR REPLACE VIEW omd_report.flow AS
WITH offered AS (
    SELECT
        t.table_code,
        min(substr(t.source_code, length('facts.') + 1)) AS interface_code
    FROM omd.source_table AS t
    INNER JOIN omd.source AS s ON t.source_code = s.source_code
    WHERE s.source_kind_code = 'FACTS'
    GROUP BY t.table_code
),

in_lake AS (
    SELECT m.table_code
    FROM omd.module AS m
    WHERE m.table_format_code IN ('ICEBERG', 'DELTA')
    UNION
    SELECT quote_ident(i.table_namespace) || '.' || quote_ident(i.table_name) AS table_code
    FROM omd_lake.iceberg_tables AS i
    WHERE i.catalog_name = 'omd' AND i.iceberg_type IS DISTINCT FROM 'VIEW'
),

stages AS (
    SELECT
        s.stage_code,
        v.definition
    FROM omd_decision.stage AS s
    INNER JOIN omd_decision.stage_version AS v
        ON s.stage_id = v.stage_id AND s.version = v.version
),

reads AS (
    SELECT
        d.table_code,
        'TOPIC' AS to_kind,
        t.topic AS to_code
    FROM omd_lineage.dependency AS d
    INNER JOIN omd_lineage.topic AS t ON d.topic_id = t.topic_id
    UNION
    SELECT
        l.item ->> 'source' AS table_code,
        'STAGE' AS to_kind,
        s.stage_code AS to_code
    FROM stages AS s
    CROSS JOIN LATERAL omd.json_items(s.definition -> 'links') AS l
    WHERE l.item ->> 'source' IS NOT NULL
),

writes AS (
    SELECT
        'TOPIC' AS from_kind,
        t.topic AS from_code,
        t.table_code
    FROM omd_lineage.topic AS t
    WHERE t.processor IS NOT NULL
    UNION
    SELECT
        'STAGE' AS from_kind,
        s.stage_code AS from_code,
        o.item ->> 'table' AS table_code
    FROM stages AS s
    CROSS JOIN LATERAL omd.json_items(s.definition -> 'outputs') AS o
    WHERE o.item ->> 'table' IS NOT NULL
    UNION
    SELECT
        'MODULE' AS from_kind,
        m.module_code AS from_code,
        m.table_code
    FROM omd.module AS m
    WHERE
        m.module_kind_code IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
        AND m.table_code IS NOT NULL
)

SELECT
    'AGREEMENT' AS from_kind,
    a.agreement_code AS from_code,
    'INTERFACE' AS to_kind,
    i.interface_code AS to_code
FROM omd_delivery.agreement AS a
INNER JOIN omd_delivery.interface AS i ON a.interface_id = i.interface_id
WHERE a.layer_code = 'LVL'
UNION ALL
SELECT
    'INTERFACE' AS from_kind,
    i.interface_code AS from_code,
    'EXPORT' AS to_kind,
    a.agreement_code AS to_code
FROM omd_delivery.agreement AS a
INNER JOIN omd_delivery.interface AS i ON a.interface_id = i.interface_id
WHERE a.layer_code = 'EXPORT'
UNION ALL
SELECT
    'INTERFACE' AS from_kind,
    o.interface_code AS from_code,
    'VIEW' AS to_kind,
    o.table_code AS to_code
FROM offered AS o
WHERE o.table_code IN (SELECT r.table_code FROM reads AS r)
UNION ALL
SELECT
    CASE
        WHEN o.table_code IS NOT NULL THEN 'VIEW'
        WHEN l.table_code IS NOT NULL THEN 'LAKE_TABLE'
        ELSE 'TABLE'
    END AS from_kind,
    r.table_code AS from_code,
    r.to_kind,
    r.to_code
FROM reads AS r
LEFT JOIN offered AS o ON r.table_code = o.table_code
LEFT JOIN in_lake AS l ON r.table_code = l.table_code
UNION ALL
SELECT
    w.from_kind,
    w.from_code,
    CASE WHEN l.table_code IS NOT NULL THEN 'LAKE_TABLE' ELSE 'TABLE' END AS to_kind,
    w.table_code AS to_code
FROM writes AS w
LEFT JOIN in_lake AS l ON w.table_code = l.table_code;

COMMENT ON VIEW omd_report.flow IS
'What flows where, over all rooms: a row per arrow from agreement to interface, offered view, '
'topic or stage, table, lake table and export.';
COMMENT ON COLUMN omd_report.flow.from_kind IS
'AGREEMENT, INTERFACE, VIEW (an offered view of facts), TOPIC, STAGE, MODULE (of the kinds SQL and '
'JOB, of which only the target is known), TABLE or LAKE_TABLE.';
COMMENT ON COLUMN omd_report.flow.from_code IS 'Its code, or the name of the table or view.';
COMMENT ON COLUMN omd_report.flow.to_kind IS
'INTERFACE, VIEW, TOPIC, STAGE, TABLE, LAKE_TABLE or EXPORT.';
COMMENT ON COLUMN omd_report.flow.to_code IS 'Its code, or the name of the table or view.';
